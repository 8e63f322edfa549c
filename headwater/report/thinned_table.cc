#include "headwater/report/thinned_table.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace headwater {

ThinnedTable::ThinnedTable(Index num_columns, Index most_buckets)
    : num_columns_(num_columns), most_buckets_(most_buckets) {
  assert(most_buckets >= 2);
}

void ThinnedTable::Cell::add(const Cell& other) {
  least = std::min(least, other.least);
  largest = std::max(largest, other.largest);
  sum += other.sum;
  seen += other.seen;
}

double ThinnedTable::mean(Index bucket, Index column) const {
  const Cell& cell_here = cell(bucket, column);
  return cell_here.seen > 0 ? cell_here.sum / static_cast<double>(cell_here.seen) : kNotSeen;
}

void ThinnedTable::add(std::span<const double> row, double time) {
  assert(static_cast<Index>(row.size()) == num_columns_);
  if (num_rows_ == num_buckets() * width_) {
    if (num_buckets() == most_buckets_) join_neighbours();
    if (num_rows_ == num_buckets() * width_) {
      cells_.resize(cells_.size() + row.size());
      times_.push_back(time);
    }
  }
  ++num_rows_;
  Cell* const cells = &cells_[cells_.size() - row.size()];
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (!std::isnan(row[i])) cells[i].add({row[i], row[i], row[i], 1});
  }
}

// An odd last bucket stays as it is, and is filled further.
void ThinnedTable::join_neighbours() {
  const Index half = (num_buckets() + 1) / 2;
  for (Index bucket = 0; bucket < num_buckets(); ++bucket) {
    for (Index column = 0; column < num_columns_; ++column) {
      const Cell from = cell(bucket, column);
      Cell& to = cells_[static_cast<std::size_t>(bucket / 2 * num_columns_ + column)];
      if (bucket % 2 == 0) {
        to = from;
      } else {
        to.add(from);
      }
    }
    if (bucket % 2 == 0) times_[static_cast<std::size_t>(bucket / 2)] = time(bucket);
  }
  times_.resize(static_cast<std::size_t>(half));
  cells_.resize(static_cast<std::size_t>(half * num_columns_));
  width_ *= 2;
}

}  // namespace headwater
