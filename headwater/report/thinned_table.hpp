#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "headwater/matrix.hpp"

namespace headwater {

// A table with one row for each observation, thinned in one pass and in bounded memory. Rows that
// follow each other share a bucket, which keeps the least, the largest and the mean value of each
// column, so that no peak is lost. When there are too many buckets, two neighbours become one: all
// buckets hold equally many rows, but for the last one.
class ThinnedTable {
 public:
  ThinnedTable() = default;
  // most_buckets: 2 or more.
  ThinnedTable(Index num_columns, Index most_buckets);

  // NaN: the value was not seen.
  void add(std::span<const double> row, double time = kNotSeen);

  Index num_columns() const { return num_columns_; }
  Index num_buckets() const { return static_cast<Index>(times_.size()); }
  std::int64_t num_rows() const { return num_rows_; }
  std::int64_t rows_a_bucket() const { return width_; }
  std::int64_t first_row(Index bucket) const { return bucket * width_; }                // from 0
  double time(Index bucket) const { return times_[static_cast<std::size_t>(bucket)]; }  // its first

  // NaN where nothing was seen.
  double least(Index bucket, Index column) const {
    return seen_or_nan(cell(bucket, column).least, bucket, column);
  }
  double largest(Index bucket, Index column) const {
    return seen_or_nan(cell(bucket, column).largest, bucket, column);
  }
  double mean(Index bucket, Index column) const;

 private:
  static constexpr double kNotSeen = std::numeric_limits<double>::quiet_NaN();

  struct Cell {
    double least = std::numeric_limits<double>::infinity();
    double largest = -std::numeric_limits<double>::infinity();
    double sum = 0;
    std::int64_t seen = 0;

    void add(const Cell& other);
  };

  const Cell& cell(Index bucket, Index column) const {
    return cells_[static_cast<std::size_t>(bucket * num_columns_ + column)];
  }
  double seen_or_nan(double value, Index bucket, Index column) const {
    return cell(bucket, column).seen > 0 ? value : kNotSeen;
  }
  void join_neighbours();

  Index num_columns_ = 0;
  Index most_buckets_ = 2;
  std::int64_t width_ = 1;
  std::int64_t num_rows_ = 0;
  std::vector<Cell> cells_;  // bucket by bucket
  std::vector<double> times_;
};

}  // namespace headwater
