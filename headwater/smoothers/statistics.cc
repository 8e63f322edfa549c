#include "headwater/smoothers/statistics.hpp"

namespace headwater {

Statistics::Statistics(Index num_channels, Index num_components, Index num_prior_statistics)
    : s1(Vector::Zero(num_components)),
      s2(Matrix::Zero(num_channels, num_components)),
      s3(Vector::Zero(num_prior_statistics)) {}

void Statistics::discount(double factor) {
  s1 *= factor;
  unseen *= factor;
  s2 *= factor;
  s3 *= factor;
  squared_weights *= factor * factor;
}

void Statistics::clear_sums() {
  s1.setZero();
  unseen.setZero();
  s2.setZero();
  s3.setZero();
}

void Statistics::count_observation(double weight) {
  ++observations;
  squared_weights += weight * weight;
}

}  // namespace headwater
