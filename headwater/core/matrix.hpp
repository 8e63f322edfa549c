#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <span>

namespace headwater {

using Index = Eigen::Index;
using Matrix = Eigen::MatrixXd;  // column-major
using Vector = Eigen::VectorXd;
using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// The numbers of a matrix or vector in the order of its memory.
template <class Values>
auto as_span(Values&& values) {
  return std::span(values.data(), static_cast<std::size_t>(values.size()));
}

}  // namespace headwater
