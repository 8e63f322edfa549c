#include "surprise_json.hpp"

#include <algorithm>

using namespace headwater;

void write_channels(JsonWriter& json, const std::vector<CellSurprise>& channels,
                    const std::vector<std::string>& labels, std::size_t most) {
  json.begin_array();
  for (std::size_t i = 0; i < std::min(most, channels.size()); ++i) {
    const CellSurprise& cell = channels[i];
    json.begin_object();
    json.key("name").value(labels[static_cast<std::size_t>(cell.channel)]);
    json.key("expected").value(cell.expected);
    json.key("seen").value(cell.seen);
    json.key("p").value(cell.p);
    json.end_object();
  }
  json.end_array();
}
