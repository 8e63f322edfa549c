#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>

namespace headwater {

// Tells where a new sequence begins, by the text that each row has for its sequence. Keeps a hash
// of each text, since a sequence that comes back after others is an error.
class SequenceLabels {
 public:
  // last: the text of the row before the first one; empty if there is none.
  explicit SequenceLabels(const std::string& last = {});

  // Throws BadRow, with `where` in front, for a text that has come before others and comes again,
  // and for one that is empty. The labels then are as before.
  void see(std::string_view label, const std::string& where);

  bool begins() const { return begins_; }  // the last row that was seen
  // Of the last row, or of the one before it.
  const std::string& label() const { return label_; }
  const std::string& label_before() const { return label_before_; }

 private:
  bool begins_ = false;
  std::string label_;  // empty before the first row
  std::string label_before_;
  std::unordered_set<std::uint64_t> seen_;
};

}  // namespace headwater
