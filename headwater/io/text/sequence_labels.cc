#include "headwater/io/text/sequence_labels.hpp"

#include <fmt/format.h>

#include <functional>

#include "headwater/error.hpp"
#include "headwater/io/cell.hpp"

namespace headwater {

SequenceLabels::SequenceLabels(const std::string& last) : label_(last), label_before_(last) {
  if (!last.empty()) seen_.insert(std::hash<std::string_view>()(last));
}

void SequenceLabels::see(std::string_view label, const std::string& where) {
  begins_ = false;
  label_before_ = label_;
  if (label.empty()) throw BadRow(where + "no sequence is named here");
  if (label == label_) return;
  if (!seen_.insert(std::hash<std::string_view>()(label)).second) {
    throw InputError(fmt::format(
        "{}sequence {} comes back after others; the rows of a sequence must follow each "
        "other",
        where, quote_text(label)));
  }
  label_ = label;
  begins_ = true;
}

}  // namespace headwater
