#include "headwater/emission/statistics.hpp"

#include <algorithm>
#include <cmath>

#include "headwater/core/state_checks.hpp"
#include "headwater/emission.hpp"

namespace headwater {

PhaseSums::PhaseSums(Index num_components, Index period)
    : counts(Matrix::Zero(num_components, period)),
      expected(Matrix::Zero(num_components, period)),
      visits(Vector::Zero(period)) {}

void PhaseSums::visit(Index phase, Index count, const Vector& mean_counts,
                      const Vector& mean_expected) {
  double kept = 1;
  for (Index i = 0; i < count; ++i) {
    visits[phase] += 1;
    kept *= 1 - recency / (visits[phase] + recency - 1);
  }
  counts.col(phase) = kept * counts.col(phase) + (1 - kept) * mean_counts;
  expected.col(phase) = kept * expected.col(phase) + (1 - kept) * mean_expected;
}

void PhaseSums::exchange(StateArchive& archive) {
  archive(counts, expected, visits, recency);
  archive.expect(is_basis(counts) && is_basis(expected) && visits.allFinite() &&
                     (visits.array() >= 0).all() && recency >= 1 && recency <= 10,
                 "invalid sums of a phase");
}

Statistics::Statistics(Index num_channels, Index num_components, Index num_prior_statistics,
                       Index num_law_statistics)
    : s1(Vector::Zero(num_components)),
      s2(Matrix::Zero(num_channels, num_components)),
      s3(Vector::Zero(num_prior_statistics)),
      s4(Vector::Zero(num_law_statistics)) {}

void Statistics::exchange(StateArchive& archive) {
  const Index num_moves = s3.size();
  const Index num_law_statistics = s4.size();
  archive(s1, unseen, s2, s3, s4, observations, squared_weights);
  for (PhaseSums& sums : phases) archive(sums);
  if (!archive.is_reading()) return;
  const bool unseen_fits =
      unseen.size() == 0 || (unseen.rows() == s2.rows() && unseen.cols() == s2.cols());
  archive.expect(s3.size() == num_moves && s4.size() == num_law_statistics && unseen_fits,
                 "statistics of the wrong size");
  const bool are_finite = std::ranges::all_of(sums(), [](std::span<const double> sum) {
    return Eigen::Map<const Vector>(sum.data(), static_cast<Index>(sum.size())).allFinite();
  });
  archive.expect(are_finite && std::isfinite(squared_weights), "statistics that are not finite");
  archive.expect(is_count(observations), "an invalid number of observations");
}

void Statistics::discount(double factor) {
  s1 *= factor;
  unseen *= factor;
  s2 *= factor;
  s3 *= factor;
  s4 *= factor;
  squared_weights *= factor * factor;
}

void Statistics::clear_sums() {
  s1.setZero();
  unseen.setZero();
  s2.setZero();
  s3.setZero();
  s4.setZero();
}

void Statistics::add_sums(const Statistics& other, double factor) {
  s1 += factor * other.s1;
  s2 += factor * other.s2;
  s3 += factor * other.s3;
  s4 += factor * other.s4;
  if (other.unseen.size() == 0) return;
  if (unseen.size() == 0) unseen.setZero(s2.rows(), s2.cols());
  unseen += factor * other.unseen;
}

std::array<std::span<const double>, 5> Statistics::sums() const {
  return {as_span(s1), as_span(s2), as_span(s3), as_span(s4), as_span(unseen)};
}

std::array<std::span<double>, 5> Statistics::mutable_sums() {
  return {as_span(s1), as_span(s2), as_span(s3), as_span(s4), as_span(unseen)};
}

void Statistics::set_sums(const Vector& flat) {
  Index at = 0;
  const auto next = [&](Index size) { return flat.segment((at += size) - size, size); };
  s1 = next(s1.size());
  s2.reshaped() = next(s2.size());
  s3 = next(s3.size());
  s4 = next(s4.size());
  if (at == flat.size()) return;
  unseen.resize(s2.rows(), s2.cols());
  unseen.reshaped() = next(s2.size());
}

void Statistics::weigh_at_most(double num_observations) {
  squared_weights = std::max(squared_weights, 1 / num_observations);
  for (PhaseSums& sums : phases) {
    const double most = std::max(1.0, num_observations / static_cast<double>(sums.visits.size()));
    sums.visits = sums.visits.cwiseMin(most);
  }
}

void Statistics::count_observation(double weight) {
  ++observations;
  squared_weights += weight * weight;
}

}  // namespace headwater
