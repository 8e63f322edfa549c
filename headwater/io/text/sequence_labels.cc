#include "headwater/io/text/sequence_labels.hpp"

#include <fmt/format.h>

#include <functional>

#include "headwater/error.hpp"
#include "headwater/io/cell.hpp"

namespace headwater {

void SequenceLabels::see(std::string_view label, const std::string& where) {
  begins_ = false;
  if (has_any_ && label == label_) return;
  if (label.empty()) throw BadRow(where + "no sequence is named here");
  if (!seen_.insert(std::hash<std::string_view>()(label)).second) {
    throw InputError(fmt::format(
        "{}sequence {} comes back after others; the rows of a sequence must follow each "
        "other",
        where, quote_text(label)));
  }
  label_ = label;
  has_any_ = true;
  begins_ = true;
}

}  // namespace headwater
