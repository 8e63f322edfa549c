#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <span>

namespace headwater {

using Index = Eigen::Index;
using Matrix = Eigen::MatrixXd;  // column-major
using Vector = Eigen::VectorXd;
using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// The elements of a matrix or vector in memory order.
template <class Values>
auto as_span(Values&& values) {
  return std::span(values.data(), static_cast<std::size_t>(values.size()));
}

}  // namespace headwater
