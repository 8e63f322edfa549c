#include "headwater/models/normal_block.hpp"

#include "headwater/kernels/normals.hpp"
#include "headwater/kernels/uniform_block.hpp"

namespace headwater {

Eigen::Block<Matrix> normal_block(const RandomBlock& random, Index num_rows, Index num_columns) {
  thread_local Matrix numbers;
  const Index pairs = (num_columns + 1) / 2;
  if (numbers.rows() < num_rows || numbers.cols() != 2 * pairs) {
    numbers.resize(num_rows, 2 * pairs);
  }
  auto rows = numbers.topLeftCorner(num_rows, 2 * pairs);
  uniform_block(random.stream, random.time, random.first_particle, random.purpose, rows);
  for (Index j = 0; j < 2 * pairs; j += 2) {
    const auto u = as_span(rows.col(j));
    const auto v = as_span(rows.col(j + 1));
    box_muller_pairs(u, v, u, v);
  }
  return rows;
}

}  // namespace headwater
