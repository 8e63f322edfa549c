#include "headwater/io/mtx/mtx.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "headwater/error.hpp"

namespace headwater {
namespace {

std::string name_row(const std::string& name, Index row) {
  return row == 0 ? name : fmt::format("{}: row {}", name, row);
}

double ratio(Index part, Index whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

SparseMtxSource::SparseMtxSource(std::unique_ptr<MtxEntries> entries, const MtxHeader& header,
                                 std::string name)
    : entries_(std::move(entries)), header_(header), name_(std::move(name)) {
  has_ahead_ = entries_->next(ahead_);
}

bool SparseMtxSource::next(std::vector<double>& values) {
  if (!next_row()) return false;
  values.assign(static_cast<std::size_t>(header_.num_columns), 0.0);
  for (const MtxEntry& entry : row_entries_) values[entry.column] = entry.value;
  return true;
}

bool SparseMtxSource::next(Observation& y) {
  if (!next_row()) return false;
  y.begin(header_.num_columns);
  for (const MtxEntry& entry : row_entries_) y.add(entry.column, entry.value);
  return true;
}

std::optional<double> SparseMtxSource::fraction_read() const {
  return ratio(row_, header_.num_rows);
}

std::string SparseMtxSource::position() const { return name_row(name_, row_); }

bool SparseMtxSource::next_row() {
  row_entries_.clear();
  if (row_ == header_.num_rows) return false;
  ++row_;
  const auto most = 2 * static_cast<std::size_t>(header_.num_columns);
  while (has_ahead_ && ahead_.row < row_) {
    if (ahead_.row + 1 < row_) {
      throw InputError(fmt::format("{}: was changed while it was read", name_));
    }
    row_entries_.push_back(ahead_);
    if (row_entries_.size() > most) merge_duplicates();
    has_ahead_ = entries_->next(ahead_);
  }
  merge_duplicates();
  return true;
}

// Sorts the row's entries by column and adds up duplicates. Repeated while a row is being read,
// this bounds the memory of a row with many duplicates.
void SparseMtxSource::merge_duplicates() {
  const auto not_ascending =
      std::ranges::adjacent_find(row_entries_, std::greater_equal{}, &MtxEntry::column);
  if (not_ascending == row_entries_.end()) return;
  std::ranges::stable_sort(row_entries_, {}, &MtxEntry::column);
  auto merged = row_entries_.begin();
  for (auto entry = merged + 1; entry != row_entries_.end(); ++entry) {
    if (entry->column == merged->column) {
      merged->value += entry->value;
    } else {
      *++merged = *entry;
    }
    if (merged->value > kLargestCount) {
      throw InputError(fmt::format("{}, column {}: its entries add up to more than {:g}",
                                   position(), merged->column + 1, kLargestCount));
    }
  }
  row_entries_.erase(merged + 1, row_entries_.end());
}

DenseMtxSource::DenseMtxSource(MtxReader& reader, std::string name)
    : name_(std::move(name)),
      num_rows_(reader.header().num_rows),
      num_channels_(reader.header().num_columns) {
  // Grows with the data: allocating by the header's sizes would trust a damaged header.
  for (double value = 0; reader.next_value(value);) cells_.push_back(value);
}

bool DenseMtxSource::next(std::vector<double>& values) {
  if (row_ == num_rows_) return false;
  values.resize(static_cast<std::size_t>(num_channels_));
  for (Index column = 0; column < num_channels_; ++column) {
    values[column] = cells_[column * num_rows_ + row_];
  }
  ++row_;
  return true;
}

std::optional<double> DenseMtxSource::fraction_read() const { return ratio(row_, num_rows_); }

std::string DenseMtxSource::position() const { return name_row(name_, row_); }

std::unique_ptr<ObservationSource> open_mtx(const std::string& name, const CellRules& rules,
                                            const SourceOptions& options) {
  TextFile file = open_text(name, options);
  const std::string shown = file.name;
  const bool can_be_read_again = file.can_be_read_again;
  auto reader = std::make_unique<MtxReader>(std::move(file), rules);
  if (!reader->header().is_sparse) return std::make_unique<DenseMtxSource>(*reader, shown);
  bool is_sorted = false;
  if (can_be_read_again) {
    is_sorted = are_sorted_by_row(*reader);
    reader = std::make_unique<MtxReader>(open_text(name, options), rules);
  }
  const MtxHeader header = reader->header();
  std::unique_ptr<MtxEntries> entries = std::move(reader);
  if (!is_sorted) entries = std::make_unique<SortedEntries>(*entries);
  return std::make_unique<SparseMtxSource>(std::move(entries), header, shown);
}

}  // namespace headwater
