#include "headwater/kernels/weighted_columns.hpp"

#include <cassert>
#include <cstddef>

namespace headwater {

void add_weighted_columns(std::span<const double* const> columns, std::span<const double> weights,
                          std::span<double> out) {
  assert(columns.size() == weights.size());
  const std::size_t size = out.size();
  double* __restrict sum = out.data();
  std::size_t j = 0;
  for (; j + 4 <= columns.size(); j += 4) {
    const double* a = columns[j];
    const double* b = columns[j + 1];
    const double* c = columns[j + 2];
    const double* d = columns[j + 3];
    const double wa = weights[j];
    const double wb = weights[j + 1];
    const double wc = weights[j + 2];
    const double wd = weights[j + 3];
    for (std::size_t i = 0; i < size; ++i) {
      sum[i] += (wa * a[i] + wb * b[i]) + (wc * c[i] + wd * d[i]);
    }
  }
  for (; j < columns.size(); ++j) {
    const double* a = columns[j];
    const double w = weights[j];
    for (std::size_t i = 0; i < size; ++i) sum[i] += w * a[i];
  }
}

}  // namespace headwater
