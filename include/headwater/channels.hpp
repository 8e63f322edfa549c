#pragma once

#include <cstddef>
#include <vector>

#include "headwater/export.hpp"
#include "headwater/matrix.hpp"

// How channels are laid out for the inner loops.
namespace headwater {

// A run of consecutive elements of a list: list[first], ..., list[first + size - 1].
struct Stretch {
  std::size_t first = 0;
  std::size_t size = 0;
  Index block = 0;  // that its channels belong to: see Reducer
};

// A basis stored by rows, each padded with zeros to full vectors of any instruction set.
class HEADWATER_EXPORT PaddedRows {
 public:
  // first: the channel of the first row.
  void set(const Matrix& basis, Index first = 0);
  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  Index stride() const { return stride_; }  // doubles per row, padding included
  const double* row(Index channel) const { return values_.data() + (channel - first_) * stride_; }

 private:
  Index first_ = 0;
  Index rows_ = 0;
  Index cols_ = 0;
  Index stride_ = 0;
  std::vector<double> values_;
};

}  // namespace headwater
