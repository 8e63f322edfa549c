#include "headwater/learning/profile_coordinates.hpp"

#include <algorithm>
#include <cmath>

namespace headwater {

namespace {

Matrix helmert(Index size) {
  Matrix basis = Matrix::Zero(size, size);
  basis.col(0).setConstant(1 / std::sqrt(static_cast<double>(size)));
  for (Index j = 1; j < size; ++j) {
    const auto before = static_cast<double>(j);
    const double length = std::sqrt(before * (before + 1));
    basis.col(j).head(j).setConstant(1 / length);
    basis(j, j) = -before / length;
  }
  return basis;
}

}  // namespace

Vector sums_of_visits(const std::vector<PhaseSums>& before, const std::vector<PhaseSums>& after) {
  Index size = 0;
  for (const PhaseSums& sums : after) size += 2 * sums.counts.size();
  Vector flat = Vector::Zero(size);
  Index at = 0;
  for (std::size_t p = 0; p < after.size(); ++p) {
    const PhaseSums& old = before[p];
    const PhaseSums& now = after[p];
    const Index components = now.counts.rows();
    for (Index h = 0; h < now.visits.size(); ++h) {
      double kept = 1;
      for (double visit = old.visits[h] + 1; visit <= now.visits[h]; visit += 1) {
        kept *= 1 - now.recency / (visit + now.recency - 1);
      }
      if (!(kept < 1)) continue;
      const double count = (now.visits[h] - old.visits[h]) / (1 - kept);
      flat.segment(at + h * components, components) =
          count * (now.counts.col(h) - kept * old.counts.col(h));
      flat.segment(at + now.counts.size() + h * components, components) =
          count * (now.expected.col(h) - kept * old.expected.col(h));
    }
    at += 2 * now.counts.size();
  }
  return flat;
}

double worth_of_visits(double visits, double recency) {
  double squared_weights = 1;
  for (double visit = 2; visit <= visits; visit += 1) {
    const double weight = recency / (visit + recency - 1);
    squared_weights = (1 - weight) * (1 - weight) * squared_weights + weight * weight;
  }
  return 1 / squared_weights;
}

ProfileCoordinates::ProfileCoordinates(const Estimate& estimate) {
  const EstimateLayout layout(estimate);
  Index begin = layout.profiles;
  const std::vector<Matrix>& profiles = estimate.season.profiles();
  for (std::size_t p = 0; p < profiles.size(); ++p) {
    const Index components = profiles[p].rows();
    const Index period = profiles[p].cols();
    const bool is_known = layout.knows(profiles[p]);
    bases_.push_back(is_known ? helmert(period) : Matrix());
    for (Index k = 0; k < components && is_known; ++k) {
      Row row{{}, p};
      for (Index h = 0; h < period; ++h) row.places.push_back(begin + k + h * components);
      rows_.push_back(std::move(row));
    }
    begin += profiles[p].size();
  }
}

void ProfileCoordinates::rotate(Matrix& rows) const {
  for (const Row& row : rows_) {
    Matrix rotated = rows(Eigen::all, row.places) * bases_[row.period];
    rotated.col(0).setZero();  // and not only up to rounding
    rows(Eigen::all, row.places) = rotated;
  }
}

std::vector<Index> ProfileCoordinates::places_after(const std::vector<Index>& places) const {
  std::vector<Index> after = places;
  for (const Row& row : rows_) {
    const auto is_of_row = [&](Index place) {
      return std::ranges::binary_search(row.places, place);
    };
    if (std::ranges::none_of(places, is_of_row)) continue;
    after.insert(after.end(), row.places.begin(), row.places.end());
  }
  std::ranges::sort(after);
  after.erase(std::unique(after.begin(), after.end()), after.end());
  return after;
}

Matrix ProfileCoordinates::rotated_back(const Matrix& rows,
                                        const std::vector<Index>& places) const {
  const std::vector<Index> after = places_after(places);
  const auto column_of = [&](Index place) {
    return static_cast<Index>(std::ranges::lower_bound(after, place) - after.begin());
  };
  Matrix result = Matrix::Zero(rows.rows(), std::ssize(after));
  for (Index j = 0; j < rows.cols(); ++j) {
    result.col(column_of(places[static_cast<std::size_t>(j)])) = rows.col(j);
  }
  for (const Row& row : rows_) {
    if (!std::ranges::binary_search(after, row.places.front())) continue;
    std::vector<Index> columns;
    for (const Index place : row.places) columns.push_back(column_of(place));
    const Matrix rotated = result(Eigen::all, columns) * bases_[row.period].transpose();
    result(Eigen::all, columns) = rotated;
  }
  return result;
}

}  // namespace headwater
