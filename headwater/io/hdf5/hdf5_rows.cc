#include "headwater/io/hdf5/hdf5_rows.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "headwater/io/hdf5/hdf5_names.hpp"

namespace headwater {
namespace {

constexpr Index kUsualBlock = Index{1} << 17;  // cells
// Above the compression of any known filter.
constexpr std::uint64_t kStrongestCompression = std::uint64_t{1} << 16;

// h5py stores booleans as an enumeration with the values FALSE and TRUE.
bool holds_numbers(hid_t type) {
  const H5T_class_t kind = H5Tget_class(type);
  return kind == H5T_INTEGER || kind == H5T_FLOAT ||
         (kind == H5T_ENUM && H5Tget_nmembers(type) == 2);
}

hid_t open_dataset(const Hdf5Place& place) {
  const Hdf5Silence silence;
  return H5Dopen2(place.file, place.path.c_str(), H5P_DEFAULT);
}

}  // namespace

Hdf5Rows::Hdf5Rows(const Hdf5Place& place) : place_(place), dataset_(open_dataset(place)) {
  const Hdf5Silence silence;
  place_.check(dataset_.id(), "cannot be opened as a dataset");
  place_.check_storage(dataset_.id());
  check_type();
  read_shape();
  const Hdf5Handle properties(H5Dget_create_plist(dataset_.id()));
  place_.check(properties.id(), kCannotBeRead);
  check_filters(properties.id());
  check_size(properties.id());
  choose_block(properties.id());
  num_kept_ = num_columns_;
}

void Hdf5Rows::keep_columns(Index first, Index size) {
  first_kept_ = first;
  num_kept_ = size;
}

std::vector<std::string> Hdf5Rows::column_names() const {
  if (num_dimensions_ == 1) return {};  // its only dimension is time
  return hdf5_column_names(place_, dataset_.id(), num_columns_);
}

void Hdf5Rows::read(Index first_row, Index num_rows, std::span<double> cells) const {
  const std::string failure =
      fmt::format("rows {} to {} cannot be read", first_row + 1, first_row + num_rows);
  if (sequence_length_ == 0) {
    read_box({first_row, first_kept_}, {num_rows, num_kept_}, cells.data(), failure);
    return;
  }
  // As many whole sequences at once as there are, and parts of those at the ends.
  for (Index row = first_row; row < first_row + num_rows;) {
    const Index left = first_row + num_rows - row;
    const Index within = row % sequence_length_;
    const Index sequences = within == 0 ? std::max<Index>(left / sequence_length_, 1) : 1;
    const Index rows = std::min(left, sequence_length_ - within);
    read_box({row / sequence_length_, within, first_kept_}, {sequences, rows, num_kept_},
             cells.data() + (row - first_row) * num_kept_, failure);
    row += sequences * rows;
  }
}

// A dataset of one dimension has the first of the numbers.
void Hdf5Rows::read_box(std::initializer_list<Index> start, std::initializer_list<Index> count,
                        double* cells, const std::string& failure) const {
  const Hdf5Silence silence;
  const std::vector<hsize_t> from(start.begin(), start.end());
  const std::vector<hsize_t> lengths(count.begin(), count.end());
  const Hdf5Handle in_file(H5Dget_space(dataset_.id()));
  place_.check(in_file.id(), failure);
  place_.check(H5Sselect_hyperslab(in_file.id(), H5S_SELECT_SET, from.data(), nullptr,
                                   lengths.data(), nullptr),
               failure);
  const Hdf5Handle in_memory(H5Screate_simple(num_dimensions_, lengths.data(), nullptr));
  place_.check(in_memory.id(), failure);
  place_.check(
      H5Dread(dataset_.id(), H5T_NATIVE_DOUBLE, in_memory.id(), in_file.id(), H5P_DEFAULT, cells),
      failure);
}

void Hdf5Rows::check_type() const {
  const Hdf5Handle type(H5Dget_type(dataset_.id()));
  place_.check(type.id(), kCannotBeRead);
  if (!holds_numbers(type.id())) place_.fail("does not hold numbers");
}

void Hdf5Rows::read_shape() {
  const Hdf5Handle space(H5Dget_space(dataset_.id()));
  place_.check(space.id(), kCannotBeRead);
  const int count = place_.check(H5Sget_simple_extent_ndims(space.id()), kCannotBeRead);
  if (count < 1 || count > 3) {
    place_.fail(fmt::format(
        "has {} dimensions; expected 2, 1 for a single channel, or 3 for sequences", count));
  }
  std::array<hsize_t, 3> lengths = {0, 1, 1};
  place_.check(H5Sget_simple_extent_dims(space.id(), lengths.data(), nullptr), kCannotBeRead);
  if (std::ranges::max(lengths) > std::uint64_t{std::numeric_limits<Index>::max()}) {
    place_.fail("is too large");
  }
  num_dimensions_ = count;
  num_rows_ = static_cast<Index>(lengths[0]);
  num_columns_ = static_cast<Index>(lengths[1]);
  if (count < 3) return;
  sequence_length_ = static_cast<Index>(lengths[1]);
  num_columns_ = static_cast<Index>(lengths[2]);
  if (__builtin_mul_overflow(num_rows_, sequence_length_, &num_rows_)) {
    place_.fail("is too large");
  }
  if (sequence_length_ == 0) sequence_length_ = 1;  // of no rows at all
}

// Virtual and external datasets have their data in other files, so the size of this file is no
// limit. Chunks that were never written read as zeros, so a wrong shape would give an almost
// endless stream of zeros.
void Hdf5Rows::check_size(std::int64_t properties) const {
  if (H5Pget_layout(properties) == H5D_VIRTUAL || H5Pget_external_count(properties) > 0) return;
  const Hdf5Handle type(H5Dget_type(dataset_.id()));
  const std::array<std::uint64_t, 2> lengths = {static_cast<std::uint64_t>(num_rows_),
                                                static_cast<std::uint64_t>(num_columns_)};
  place_.check_size(dataset_.id(), lengths, H5Tget_size(type.id()), kStrongestCompression);
}

void Hdf5Rows::check_filters(std::int64_t properties) const {
  const int count = place_.check(H5Pget_nfilters(properties), kCannotBeRead);
  for (int i = 0; i < count; ++i) {
    std::array<char, 64> name = {};
    std::size_t num_values = 0;
    unsigned flags = 0;
    unsigned config = 0;
    const H5Z_filter_t filter =
        place_.check(H5Pget_filter2(properties, static_cast<unsigned>(i), &flags, &num_values,
                                    nullptr, name.size(), name.data(), &config),
                     kCannotBeRead);
    if (H5Zfilter_avail(filter) > 0) continue;
    name.back() = '\0';
    place_.fail(fmt::format("needs the HDF5 filter '{}' ({}), which is not installed", name.data(),
                            filter));
  }
}

// The number of rows in a chunk, or 1 if the dataset has no chunks. HDF5 never creates a chunk
// larger than the dataset's maximal size; if a damaged file claims one, HDF5 reads out of bounds.
Index Hdf5Rows::read_chunk_rows(std::int64_t properties) const {
  if (H5Pget_layout(properties) != H5D_CHUNKED) return 1;
  std::array<hsize_t, 3> chunk = {1, 1, 1};
  std::array<hsize_t, 3> most = {1, 1, 1};
  const Hdf5Handle space(H5Dget_space(dataset_.id()));
  place_.check(H5Sget_simple_extent_dims(space.id(), nullptr, most.data()), kCannotBeRead);
  place_.check(H5Pget_chunk(properties, num_dimensions_, chunk.data()), kCannotBeRead);
  for (std::size_t i = 0; i < chunk.size(); ++i) {
    if (chunk[i] == 0 || chunk[i] > most[i]) place_.fail("is damaged: its chunks do not fit it");
  }
  // Chunks of several sequences have parts of each: whole sequences are read.
  const auto sequence = static_cast<hsize_t>(std::min(sequence_length_, kLargestHdf5Block));
  const hsize_t rows =
      sequence > 0 ? std::min<hsize_t>(chunk[0], kLargestHdf5Block) * sequence : chunk[0];
  return static_cast<Index>(std::min<hsize_t>(rows, kLargestHdf5Block));
}

void Hdf5Rows::choose_block(std::int64_t properties) {
  const Index columns = std::max<Index>(1, num_columns_);
  const Index largest = std::max<Index>(1, kLargestHdf5Block / columns);
  const Index chunk_rows = std::min(read_chunk_rows(properties), largest);
  const Index num_chunks = std::max<Index>(1, kUsualBlock / columns / chunk_rows);
  block_rows_ = std::min(chunk_rows * num_chunks, largest);
}

}  // namespace headwater
