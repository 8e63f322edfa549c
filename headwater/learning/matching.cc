#include "headwater/matching.hpp"

#include <cassert>
#include <cmath>
#include <limits>

namespace headwater {

// Rows enter one by one; each takes the cheapest way, over reduced costs, along which the rows
// already assigned can move over. Column 0 is a place for the row that is entering.
std::vector<Index> least_cost_assignment(const Matrix& cost) {
  const Index n = cost.rows();
  assert(cost.cols() == n);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Vector row_price = Vector::Zero(n + 1);
  Vector column_price = Vector::Zero(n + 1);
  std::vector<Index> row_of(n + 1, 0);
  std::vector<Index> came_from(n + 1, 0);
  for (Index row = 1; row <= n; ++row) {
    row_of[0] = row;
    Index column = 0;
    Vector distance = Vector::Constant(n + 1, kInfinity);
    std::vector<bool> is_settled(n + 1, false);
    while (row_of[column] != 0) {
      is_settled[column] = true;
      const Index at = row_of[column];
      Index nearest = 0;
      double shortest = kInfinity;
      for (Index j = 1; j <= n; ++j) {
        if (is_settled[j]) continue;
        const double reduced = cost(at - 1, j - 1) - row_price[at] - column_price[j];
        if (reduced < distance[j]) {
          distance[j] = reduced;
          came_from[j] = column;
        }
        if (distance[j] < shortest) {
          shortest = distance[j];
          nearest = j;
        }
      }
      for (Index j = 0; j <= n; ++j) {
        if (is_settled[j]) {
          row_price[row_of[j]] += shortest;
          column_price[j] -= shortest;
        } else {
          distance[j] -= shortest;
        }
      }
      column = nearest;
    }
    for (; column != 0; column = came_from[column]) row_of[column] = row_of[came_from[column]];
  }
  std::vector<Index> column_of(n);
  for (Index j = 1; j <= n; ++j) column_of[row_of[j] - 1] = j - 1;
  return column_of;
}

std::vector<Index> match_columns(const Matrix& estimate, const Matrix& truth) {
  assert(estimate.rows() == truth.rows() && estimate.cols() == truth.cols());
  Matrix cost(truth.cols(), truth.cols());
  for (Index k = 0; k < truth.cols(); ++k) {
    for (Index j = 0; j < truth.cols(); ++j) {
      cost(k, j) = (estimate.col(j) - truth.col(k)).squaredNorm();
    }
  }
  return least_cost_assignment(cost);
}

Matrix in_order_of(const Matrix& estimate, const Matrix& truth) {
  const std::vector<Index> column_for = match_columns(estimate, truth);
  Matrix ordered(truth.rows(), truth.cols());
  for (Index k = 0; k < truth.cols(); ++k) ordered.col(k) = estimate.col(column_for[k]);
  return ordered;
}

namespace {

// Of each column of one with each of the other.
Matrix cosines(const Matrix& basis, const Matrix& other) {
  assert(basis.rows() == other.rows());
  // The smallest number keeps a column of zeros from dividing by zero.
  const auto unit_columns = [](const Matrix& matrix) -> Matrix {
    const double least = std::numeric_limits<double>::min();
    return matrix.array().rowwise() / matrix.colwise().norm().array().max(least);
  };
  return unit_columns(basis).transpose() * unit_columns(other);
}

}  // namespace

Vector best_cosines(const Matrix& basis, const Matrix& other) {
  return cosines(basis, other).rowwise().maxCoeff();
}

// Columns of zeros make up for those that one of the two has less.
Vector matched_cosines(const Matrix& basis, const Matrix& other) {
  const Index size = std::max(basis.cols(), other.cols());
  Matrix all = Matrix::Zero(size, size);
  all.topLeftCorner(basis.cols(), other.cols()) = cosines(basis, other);
  const std::vector<Index> partner = least_cost_assignment(-all);
  Vector result(basis.cols());
  for (Index k = 0; k < basis.cols(); ++k) result[k] = all(k, partner[k]);
  return result;
}

double root_mean_square_error(const Matrix& estimate, const Matrix& truth) {
  return std::sqrt((estimate - truth).array().square().mean());
}

double relative_error(const Matrix& estimate, const Matrix& truth) {
  return (estimate - truth).norm() / truth.norm();
}

}  // namespace headwater
