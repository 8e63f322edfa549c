#include "headwater/emission/statistics.hpp"

namespace headwater {

Statistics::Statistics(Index num_channels, Index num_components, Index num_prior_statistics,
                       Index num_law_statistics)
    : s1(Vector::Zero(num_components)),
      s2(Matrix::Zero(num_channels, num_components)),
      s3(Vector::Zero(num_prior_statistics)),
      s4(Vector::Zero(num_law_statistics)) {}

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

std::array<std::span<const double>, 5> Statistics::sums() const {
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

void Statistics::count_observation(double weight) {
  ++observations;
  squared_weights += weight * weight;
}

}  // namespace headwater
