#include "model_and_data.hpp"

#include <fmt/format.h>

#include "headwater/error.hpp"
#include "progress.hpp"
#include "stop_signals.hpp"
#include "words.hpp"

using namespace headwater;

DataStream open_for_model(const DataOptions& data, const std::string& model_name,
                          const Model& model, bool quiet) {
  DataStream stream(data, [] { return stop_signal() != 0; });
  if (stream.num_channels() == 0) {
    throw InputError(fmt::format("{}: stopped by {} before the first observation", data.name,
                                 stop_signal_name()));
  }
  match_names(stream, model.names, model_name, quiet);
  if (stream.num_channels() != model.num_channels()) {
    throw InputError(fmt::format("{}: has {} channels; {} was fitted to {}", data.name,
                                 stream.num_channels(), model_name, model.num_channels()));
  }
  return stream;
}

void match_names(DataStream& data, const std::vector<std::string>& names,
                 const std::string& model_name, bool quiet) {
  for (const std::string& file : data.match_names(names, model_name)) {
    if (quiet) continue;
    say("{}: its channels are in another order than those of {}, and are put into that order\n",
        file, names.empty() ? data.name() : model_name);
  }
}

std::vector<std::string> time_texts(const DataStream& data) {
  if (!data.has_times()) return {};
  return {data.time_text(data.observation())};
}

std::vector<std::string> channel_labels(const DataStream& data, const Model& model) {
  return channel_labels(model.names.empty() ? data.channel_names() : model.names,
                        data.num_channels());
}

std::vector<std::string> channel_labels(std::vector<std::string> names, Index num_channels) {
  for (Index m = static_cast<Index>(names.size()); m < num_channels; ++m) {
    names.push_back(fmt::format("{}", m + 1));
  }
  return names;
}

std::vector<std::string> channel_header(const DataStream& data, const Model& model) {
  std::vector<std::string> labels = channel_labels(data, model);
  if (data.has_times()) return header_with_time(data, std::move(labels));
  const bool have_names = !model.names.empty() || !data.channel_names().empty();
  return have_names ? labels : std::vector<std::string>();
}

std::vector<std::string> header_with_time(const DataStream& data, std::vector<std::string> names) {
  if (!data.has_times()) return {};
  names.insert(names.begin(), "time");
  return names;
}

void report_bad_rows(const DataStream& data, bool quiet) {
  if (quiet || data.num_bad_rows() == 0) return;
  say("{} rows could not be read and were left out\n", with_commas(data.num_bad_rows()));
}
