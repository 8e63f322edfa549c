#include "headwater/reference/short_records.hpp"

#include <cmath>
#include <limits>

#include "headwater/models/basis_selection.hpp"
#include "headwater/models/finite_prior.hpp"
#include "headwater/reference/path_sums.hpp"

namespace headwater::reference {

namespace {

bool is_missing(const ShortRecord& r, Index m, Index t) {
  return std::isnan(r.counts(m, t)) || r.exposures(m, t) == 0;
}

double likelihood_at(const ShortRecord& r, Index t, const Vector& x) {
  double product = 1;
  for (Index m = 0; m < r.basis.rows(); ++m) {
    if (is_missing(r, m, t)) continue;
    product *= r.formulas.density(m, r.counts(m, t), r.exposures(m, t) * r.basis.row(m).dot(x));
  }
  return product;
}

// What one observation adds, if the activation is x.
void add_cells(const ShortRecord& r, Index t, const Vector& x, double weight, Statistics& out) {
  out.s1 += weight * x;
  for (Index m = 0; m < r.basis.rows(); ++m) {
    if (is_missing(r, m, t)) {
      out.unseen.row(m) += weight * x.transpose();
      continue;
    }
    const double y = r.counts(m, t);
    const double exposure = r.exposures(m, t);
    const double mean = exposure * r.basis.row(m).dot(x);
    const double gain = exposure * r.formulas.gain(m, y, mean);
    const double loss = exposure * r.formulas.loss(m, y, mean);
    for (Index k = 0; k < x.size(); ++k) {
      out.unseen(m, k) += weight * x[k] * (1 - loss);
      out.s2(m, k) += weight * x[k] * r.basis(m, k) * gain;
    }
    r.formulas.add_statistics(m, y, mean, weight, out.s4);
  }
}

}  // namespace

PathTruth truth_by_paths(const ShortRecord& r) {
  const FiniteChain chain = r.prior.finite_chain();
  const Matrix states = states_with_background(chain, r.basis.cols());
  const Matrix transition = dense_transition(chain);
  const Vector initial = chain.joint_initial();
  const Index length = r.counts.cols();
  const auto probability = [&](const std::vector<Index>& path) {
    double p = initial[path[0]] * likelihood_at(r, 0, states.row(path[0]));
    for (std::size_t t = 1; t < path.size(); ++t) {
      p *= transition(path[t - 1], path[t]) *
           likelihood_at(r, static_cast<Index>(t), states.row(path[t]));
    }
    return p;
  };
  double evidence = 0;
  for_each_path(states.rows(), length,
                [&](const std::vector<Index>& path) { evidence += probability(path); });
  PathTruth truth{std::log(evidence), Statistics(r.basis.rows(), r.basis.cols(), chain.num_moves(),
                                                 r.formulas.law->num_statistics(r.basis.rows()))};
  truth.statistics.unseen.setZero(r.basis.rows(), r.basis.cols());
  for_each_path(states.rows(), length, [&](const std::vector<Index>& path) {
    const double weight = probability(path) / evidence / static_cast<double>(length);
    if (weight == 0) return;
    for (std::size_t t = 0; t < path.size(); ++t) {
      add_cells(r, static_cast<Index>(t), states.row(path[t]), weight, truth.statistics);
      if (t > 0) add_moves(chain, path[t - 1], path[t], weight, truth.statistics.s3);
    }
  });
  return truth;
}

std::vector<ShortRecord> short_records(const LawFormulas& formulas, Matrix counts) {
  constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
  counts.col(2).setConstant(kMissing);
  counts(2, 1) = kMissing;
  Matrix exposures = Matrix::Ones(3, 6);
  exposures(0, 5) = 0.5;
  exposures(2, 4) = 2;
  exposures(1, 0) = 0;  // missing, whatever its count
  Matrix basis(3, 3);
  basis << 2, 0.5, 3,  //
      0.2, 1.5, 4,     //
      1, 1, 2;
  Matrix table(3, 3);
  table << 0.7, 0.2, 0.1, 0.0, 0.5, 0.5, 0.3, 0.3, 0.4;
  const Matrix states = (Matrix(3, 2) << 0.2, 1, 1.5, 0, 2, 2).finished();
  return {{AnyPrior(BasisSelection(2, 0.8, 0.7)), formulas, basis, counts, exposures},
          {AnyPrior(FiniteStatePrior(states, table)), formulas, basis, counts, exposures}};
}

}  // namespace headwater::reference
