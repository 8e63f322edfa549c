#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headwater/io/cell.hpp"
#include "headwater/io/hdf5/hdf5_blocks.hpp"
#include "headwater/source.hpp"

namespace headwater {

// Observations from a T x M dataset of any real type. A one-dimensional dataset has T observations
// of one channel, a three-dimensional one sequences of observations: S x T x M. Read block by
// block. Error messages count rows and columns from 1, rows of all sequences.
class Hdf5Source final : public ObservationSource {
 public:
  using ObservationSource::next;
  using Open = std::function<std::unique_ptr<Hdf5Blocks>(const Hdf5Name&)>;
  // The blocks are those of the dataset of that name. open: opens it again, for keep_columns().
  Hdf5Source(const Hdf5Name& name, std::unique_ptr<Hdf5Blocks> blocks, const CellRules& rules = {},
             Open open = {});

  Index num_channels() const override { return num_channels_; }
  std::vector<std::string> channel_names() const override { return blocks_->column_names(); }
  bool next(std::vector<double>& values) override;
  bool keep_columns(Index first, Index size) override;
  bool begins_sequence() const override {
    const Index length = blocks_->sequence_length();
    return length > 0 && (row_ - 1) % length == 0;
  }
  bool can_go_on_after_error() const override { return true; }
  std::optional<double> fraction_read() const override;
  std::string position() const override;

 private:
  Hdf5Name place_;
  std::string name_;
  CellRules rules_;
  std::unique_ptr<Hdf5Blocks> blocks_;
  Open open_;
  Index num_channels_ = 0;
  std::vector<double> block_;
  std::size_t used_ = 0;  // cells of the block already returned
  Index row_ = 0;         // rows already returned
};

}  // namespace headwater
