#include "headwater/reference/streams.hpp"

#include <cmath>

#include "headwater/random.hpp"
#include "headwater/simulate.hpp"

namespace headwater::reference {

Matrix simulate_record(const AnyPrior& prior, const Matrix& basis, Index length,
                       std::uint64_t seed) {
  Simulator simulator(prior, basis, seed);
  Matrix record(basis.rows(), length);
  for (Index t = 0; t < length; ++t) {
    simulator.next();
    record.col(t) = Eigen::Map<const Vector>(simulator.observation().data(), basis.rows());
  }
  return record;
}

Matrix perturbed(const Matrix& basis, double spread, std::uint64_t seed) {
  const RandomStream random(seed);
  Matrix start = basis;
  for (Index i = 0; i < start.size(); ++i) {
    Generator generator = random.at(0, static_cast<std::uint32_t>(i), Purpose::restart);
    start(i) *= std::exp(spread * normal(generator));
  }
  return start;
}

double largest_relative_difference(const Matrix& a, const Matrix& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) return INFINITY;
  if (a.size() == 0) return 0;
  const double scale = b.cwiseAbs().maxCoeff();
  return (a - b).cwiseAbs().maxCoeff() / (scale > 0 ? scale : 1);
}

}  // namespace headwater::reference
