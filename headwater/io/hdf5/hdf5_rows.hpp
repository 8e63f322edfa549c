#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "headwater/io/hdf5/hdf5_handle.hpp"
#include "headwater/matrix.hpp"

namespace headwater {

// The most cells read at once, unless a single row has more.
inline constexpr Index kLargestHdf5Block = Index{1} << 23;

// The rows of a numeric dataset (integers or floats of any size, or h5py's booleans) as doubles. A
// one-dimensional dataset is read as a column, a three-dimensional one as sequences of rows, one
// after another.
class Hdf5Rows {
 public:
  explicit Hdf5Rows(const Hdf5Place& place);

  Index num_rows() const { return num_rows_; }
  Index num_columns() const { return num_columns_; }
  Index sequence_length() const { return sequence_length_; }  // 0 if there are no sequences
  // See hdf5_column_names(); empty if the columns have no names.
  std::vector<std::string> column_names() const;

  // The number of rows to read at a time: about a megabyte. In a chunked file it is a multiple of
  // the chunk size, so that each chunk is decompressed once, but at most 64 megabytes (or one row).
  Index block_rows() const { return block_rows_; }

  // From here on read() reads these columns alone.
  void keep_columns(Index first, Index size);

  // Reads rows into `cells` in row-major order; `cells` must be large enough.
  void read(Index first_row, Index num_rows, std::span<double> cells) const;

 private:
  void read_box(std::initializer_list<Index> start, std::initializer_list<Index> count,
                double* cells, const std::string& failure) const;
  void check_type() const;
  void read_shape();
  void check_size(std::int64_t properties) const;
  void check_filters(std::int64_t properties) const;
  Index read_chunk_rows(std::int64_t properties) const;
  void choose_block(std::int64_t properties);

  Hdf5Place place_;
  Hdf5Handle dataset_;
  int num_dimensions_ = 0;
  Index num_rows_ = 0;
  Index num_columns_ = 1;
  Index first_kept_ = 0;  // columns
  Index num_kept_ = 1;
  Index sequence_length_ = 0;
  Index block_rows_ = 1;
};

}  // namespace headwater
