#include "headwater/io/mtx/mtx_entries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "headwater/error.hpp"
#include "headwater/io/mtx/mtx_words.hpp"

namespace headwater {

MtxReader::MtxReader(TextFile file, const CellRules& rules, LineLimits limits)
    : rules_(rules),
      lines_(std::move(file.bytes), std::move(file.name), limits),
      header_(read_mtx_header(lines_, rules)) {}

bool MtxReader::next(MtxEntry& entry) {
  std::string_view line;
  if (!next_line(line)) return false;
  entry.row = cut_place(line, "row", header_.num_rows);
  entry.column = cut_place(line, "column", header_.num_columns);
  entry.value = header_.has_values ? cut_value(line) : 1.0;
  expect_end(line);
  return true;
}

bool MtxReader::next_value(double& value) {
  std::string_view line;
  if (!next_line(line)) return false;
  value = cut_value(line);
  expect_end(line);
  return true;
}

bool MtxReader::next_line(std::string_view& line) {
  auto found = lines_.next();
  while (found && (is_blank_line(*found) || found->starts_with('%'))) found = lines_.next();
  if (found && num_read_ == header_.num_entries) {
    fail(fmt::format("one entry more than the {} that line {} announces", header_.num_entries,
                     header_.size_line));
  }
  if (!found && num_read_ < header_.num_entries) {
    throw InputError(fmt::format("{}: ends after {} of the {} entries that line {} announces",
                                 lines_.name(), num_read_, header_.num_entries, header_.size_line));
  }
  if (!found) return false;
  ++num_read_;
  line = *found;
  return true;
}

std::uint32_t MtxReader::cut_place(std::string_view& line, std::string_view what,
                                   Index size) const {
  const std::string_view word = cut_word(line);
  Index number = 0;
  const char* last = word.data() + word.size();
  const auto [end, error] = std::from_chars(word.data(), last, number);
  if (error == std::errc::invalid_argument || end != last) {
    fail(fmt::format("{} where the number of a {} was expected", quote_text(word), what));
  }
  if (error != std::errc() || number < 1 || number > size) {
    fail(fmt::format("{} {}; expected 1 to {}", what, word, size));
  }
  return static_cast<std::uint32_t>(number - 1);
}

double MtxReader::cut_value(std::string_view& line) const {
  const std::string_view word = cut_word(line);
  if (word.empty()) fail("the line ends where a value was expected");
  const Cell cell = parse_cell(word);
  if (!is_acceptable(cell.trouble, rules_)) {
    fail(describe_trouble(cell.trouble, quote_text(word), rules_));
  }
  return cell.value;
}

void MtxReader::expect_end(std::string_view line) const {
  const std::string_view word = cut_word(line);
  if (!word.empty()) fail(fmt::format("{} where the line was expected to end", quote_text(word)));
}

void MtxReader::fail(std::string_view what) const {
  throw InputError(fmt::format("{}:{}: {}", lines_.name(), lines_.line_number(), what));
}

SortedEntries::SortedEntries(MtxEntries& entries) {
  for (MtxEntry entry = {}; entries.next(entry);) entries_.push_back(entry);
  entries_.shrink_to_fit();
  std::ranges::sort(entries_, {}, [](const MtxEntry& entry) {
    return std::uint64_t{entry.row} << 32 | entry.column;
  });
}

bool SortedEntries::next(MtxEntry& entry) {
  if (at_ == entries_.size()) return false;
  entry = entries_[at_++];
  return true;
}

bool are_sorted_by_row(MtxEntries& entries) {
  std::uint32_t row = 0;
  for (MtxEntry entry = {}; entries.next(entry); row = entry.row) {
    if (entry.row < row) return false;
  }
  return true;
}

}  // namespace headwater
