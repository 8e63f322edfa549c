#include "headwater/kernels/gather.hpp"

#include <cassert>
#include <cstddef>

namespace headwater {

namespace {

// Several rows at a time, so that their indices are loaded once for all columns. Plain loops:
// AVX2's gather instructions took twice as long.
template <std::size_t kRows>
void gather(const Eigen::Ref<const Matrix>& in, const std::int32_t* rows, double* out,
            Index stride) {
  const double* from[kRows];
  for (std::size_t r = 0; r < kRows; ++r) from[r] = in.data() + rows[r];
  for (Index k = 0; k < in.cols(); ++k) {
    double values[kRows];
    for (std::size_t r = 0; r < kRows; ++r) values[r] = from[r][k * in.outerStride()];
    for (std::size_t r = 0; r < kRows; ++r) out[k * stride + r] = values[r];
  }
}

}  // namespace

void gather_rows(const Eigen::Ref<const Matrix>& in, std::span<const std::int32_t> rows,
                 Eigen::Ref<Matrix> out) {
  assert(static_cast<Index>(rows.size()) == out.rows() && in.cols() == out.cols());
  constexpr std::size_t kTogether = 4;
  std::size_t i = 0;
  for (; i + kTogether <= rows.size(); i += kTogether) {
    gather<kTogether>(in, rows.data() + i, out.data() + i, out.outerStride());
  }
  for (; i < rows.size(); ++i) gather<1>(in, rows.data() + i, out.data() + i, out.outerStride());
}

}  // namespace headwater
