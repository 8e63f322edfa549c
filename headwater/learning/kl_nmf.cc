#include "headwater/learning/kl_nmf.hpp"

#include <cassert>
#include <cmath>

namespace headwater {

namespace {

// The counts, zero where unseen, and which cells are seen, as numbers to sum with.
struct Cells {
  Matrix counts;
  Matrix seen;
};

Cells cells_of(const Eigen::Ref<const Matrix>& observations) {
  const auto is_seen = observations.array().isFinite();
  return {is_seen.select(observations, 0), is_seen.cast<double>()};
}

// Zero where there is nothing to divide, also by zero.
Matrix quotient(const Matrix& above, const Matrix& below) {
  return (above.array() > 0 && below.array() > 0).select(above.array() / below.array(), 0);
}

// Each observation's counts shared evenly among the components.
Matrix even_activations(const Cells& y, const Matrix& basis) {
  const Matrix exposure = basis.rowwise().sum().transpose() * y.seen;
  const Matrix level = quotient(y.counts.colwise().sum(), exposure);
  return level.replicate(basis.cols(), 1);
}

// Each entry times its share of the counts over the intensity that it has led to.
void update_activations(const Cells& y, const Matrix& basis, Matrix& x) {
  const Matrix ratio = quotient(y.counts, basis * x);
  x = quotient(x.cwiseProduct(basis.transpose() * ratio), basis.transpose() * y.seen);
}

// A component without activation, where seen, says nothing about its basis, which stays.
void update_basis(const Cells& y, const Matrix& x, Matrix& basis) {
  const Matrix ratio = quotient(y.counts, basis * x);
  const Matrix exposure = y.seen * x.transpose();
  const Matrix updated = quotient(basis.cwiseProduct(ratio * x.transpose()), exposure);
  basis = (exposure.array() > 0).select(updated, basis);
}

double divergence(const Cells& y, const Matrix& intensity) {
  double sum = 0;
  for (Index i = 0; i < intensity.size(); ++i) {
    const double count = y.counts(i);
    if (count > 0) sum += count * std::log(count / intensity(i)) - count;
    sum += y.seen(i) * intensity(i);
  }
  return sum;
}

}  // namespace

Factorisation kl_nmf(const Eigen::Ref<const Matrix>& observations, const Matrix& starting_basis,
                     int iterations) {
  assert(starting_basis.rows() == observations.rows());
  const Cells y = cells_of(observations);
  Factorisation found{starting_basis, even_activations(y, starting_basis), 0};
  for (int i = 0; i < iterations; ++i) {
    update_activations(y, found.basis, found.activations);
    update_basis(y, found.activations, found.basis);
  }
  found.divergence = divergence(y, found.basis * found.activations);
  return found;
}

}  // namespace headwater
