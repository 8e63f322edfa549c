#include "headwater/io/npy/npy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "headwater/error.hpp"
#include "headwater/io/npy/npy_header.hpp"
#include "headwater/io/row_check.hpp"

namespace headwater {
namespace {

constexpr std::string_view kTypes = "b1, i1 to i8, u1 to u8, f2, f4 or f8";

// The size of the array in bytes; nothing if it overflows.
std::optional<std::size_t> size_in_bytes(const std::vector<std::int64_t>& shape,
                                         std::size_t item_size) {
  std::size_t size = item_size;
  for (const std::int64_t length : shape) {
    if (__builtin_mul_overflow(size, length, &size)) return std::nullopt;
  }
  return size;
}

}  // namespace

NpySource::NpySource(const std::string& name, const CellRules& rules)
    : name_(name), rules_(rules), file_(name) {
  read_header();
}

bool NpySource::next(std::vector<double>& values) {
  if (row_ == num_rows_) return false;
  values.resize(num_kept_);
  const std::size_t offset = offset_of(row_) + first_column_ * column_stride_;
  type_.load(file_.bytes().data() + data_offset_ + offset, column_stride_, values);
  ++row_;
  check_row(values, rules_, name_, row_, first_column_);
  return true;
}

std::size_t NpySource::offset_of(Index row) const {
  if (sequence_length_ == 0) return row * row_stride_;
  return row / sequence_length_ * sequence_stride_ + row % sequence_length_ * row_stride_;
}

std::optional<double> NpySource::fraction_read() const {
  return static_cast<double>(row_) / static_cast<double>(num_rows_);
}

std::string NpySource::position() const {
  return row_ == 0 ? name_ : fmt::format("{}: row {}", name_, row_);
}

void NpySource::read_header() {
  const NpyHeader header = parse_npy_header(file_.bytes(), name_);
  type_ = find_npy_type(header.type);
  if (type_.load == nullptr) {
    throw InputError(fmt::format("{}: holds values of type {}; expected {}", name_,
                                 quote_text(header.type), kTypes));
  }
  const std::size_t num_dimensions = header.shape.size();
  if (num_dimensions < 1 || num_dimensions > 3) {
    throw InputError(
        fmt::format("{}: has {} dimensions; expected 2, 1 for a single channel, or 3 for sequences",
                    name_, num_dimensions));
  }
  data_offset_ = header.data_offset;
  check_size(header.shape);
  const bool has_sequences = num_dimensions == 3;
  const Index num_sequences = has_sequences ? header.shape[0] : 1;
  sequence_length_ = has_sequences ? header.shape[1] : 0;
  num_rows_ = has_sequences ? num_sequences * sequence_length_ : header.shape[0];
  num_channels_ = num_dimensions == 1 ? 1 : header.shape.back();
  if (num_channels_ > kMostChannels) {
    throw InputError(fmt::format("{}: has {} columns; expected at most {}", name_, num_channels_,
                                 kMostChannels));
  }
  num_kept_ = num_channels_;
  row_stride_ = type_.item_size * (header.fortran_order ? num_sequences : num_channels_);
  sequence_stride_ =
      type_.item_size * (header.fortran_order ? 1 : sequence_length_ * num_channels_);
  column_stride_ = type_.item_size * (header.fortran_order ? num_rows_ : 1);
}

void NpySource::check_size(const std::vector<std::int64_t>& shape) const {
  const auto needed = size_in_bytes(shape, type_.item_size);
  if (!needed) {
    throw InputError(fmt::format("{}: its shape ({}) is too large", name_, fmt::join(shape, ", ")));
  }
  if (*needed == 0) throw InputError(fmt::format("{}: holds no {}", name_, rules_.subject));
  const std::size_t available = file_.bytes().size() - data_offset_;
  if (available < *needed) {
    throw InputError(fmt::format("{}: is cut off; its shape ({}) needs {} bytes, but {} are there",
                                 name_, fmt::join(shape, ", "), *needed, available));
  }
}

}  // namespace headwater
