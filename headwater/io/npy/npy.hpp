#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headwater/io/cell.hpp"
#include "headwater/io/files/mapped_file.hpp"
#include "headwater/io/npy/npy_values.hpp"
#include "headwater/source.hpp"

namespace headwater {

// Observations from a T x M array saved by NumPy, of any real type and memory order. A
// one-dimensional array has T observations of one channel, a three-dimensional one sequences of
// observations: S x T x M. Error messages count rows and columns from 1, rows of all sequences.
class NpySource final : public ObservationSource {
 public:
  using ObservationSource::next;
  explicit NpySource(const std::string& name, const CellRules& rules = {});

  Index num_channels() const override { return num_channels_; }
  bool next(std::vector<double>& values) override;
  bool keep_columns(Index first, Index size) override {
    first_column_ = first;
    num_kept_ = size;
    return true;
  }
  bool begins_sequence() const override {
    return sequence_length_ > 0 && (row_ - 1) % sequence_length_ == 0;
  }
  bool can_go_on_after_error() const override { return true; }
  std::optional<double> fraction_read() const override;
  std::string position() const override;

 private:
  void read_header();
  std::size_t offset_of(Index row) const;
  void check_size(const std::vector<std::int64_t>& shape) const;

  std::string name_;
  CellRules rules_;
  MappedFile file_;
  NpyType type_;
  std::size_t data_offset_ = 0;
  std::size_t row_stride_ = 0;  // bytes between a number and the one below it
  std::size_t sequence_stride_ = 0;
  std::size_t column_stride_ = 0;
  Index num_rows_ = 0;
  Index sequence_length_ = 0;  // 0 if there are no sequences
  Index num_channels_ = 0;
  Index first_column_ = 0;
  Index num_kept_ = 0;  // columns
  Index row_ = 0;       // rows already returned
};

}  // namespace headwater
