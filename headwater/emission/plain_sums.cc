#include "headwater/emission/plain_sums.hpp"

#include "headwater/emission.hpp"
#include "headwater/parallel/ranks.hpp"

namespace headwater {

void add_unexposed(const Observation& y, const Eigen::Ref<const Vector>& x, Statistics& out) {
  if (y.exposed().empty()) return;
  if (out.unseen.size() == 0) out.unseen.setZero(out.s2.rows(), out.s2.cols());
  const Index first = kept_rows(y.num_channels()).first;
  const Stretch kept = kept_part(y.exposed(), y.num_channels());
  for (std::size_t j = kept.first; j < kept.first + kept.size; ++j) {
    out.unseen.row(y.exposed()[j] - first) += (1 - y.exposures()[j]) * x.transpose();
  }
}

void EmissionSums::add(const Matrix& states, const Emission& emission,
                       const Eigen::Ref<const Matrix>& weights,
                       std::span<const Observation* const> observations, Statistics& out) {
  for (std::size_t t = 0; t < observations.size(); ++t) {
    add_one(states, emission, weights.col(static_cast<Index>(t)), *observations[t], out);
  }
  finish(emission, out);
}

void EmissionSums::add_one(const Eigen::Ref<const Matrix>& states, const Emission& emission,
                           const Eigen::Ref<const Vector>& weights, const Observation& y,
                           Statistics& out) {
  mean_.noalias() = states.transpose() * weights;
  out.s1 += mean_;
  if (emission.law()->has_plain_losses()) add_unexposed(y, mean_, out);
  add_counts_of_one(states, emission, weights, y, out);
}

void PlainSums::add_counts_of_one(const Eigen::Ref<const Matrix>& states, const Emission& emission,
                                  const Eigen::Ref<const Vector>& weights, const Observation& y,
                                  Statistics& out) {
  const BlockLaw& law = *emission.law();
  const Matrix& basis = emission.basis();
  const bool has_losses = !law.has_plain_losses();
  if (has_losses && out.unseen.size() == 0) out.unseen.setZero(basis.rows(), basis.cols());
  if (has_losses) {
    const Vector mean = states.transpose() * weights;
    for (std::size_t j = 0; j < y.exposed().size(); ++j) {
      if (y.exposures()[j] == 0) out.unseen.row(y.exposed()[j]) += mean.transpose();
    }
  }
  gains_.resize(states.rows());
  losses_.resize(states.rows());
  for_each_seen(y, [&](Index m, double count, double exposure) {
    intensities_.noalias() = states * basis.row(m).transpose();
    for (Index i = 0; i < states.rows(); ++i) {
      const CellForces forces = law.cell_forces(m, count, exposure, intensities_[i]);
      gains_[i] = weights[i] * forces.gain;
      losses_[i] = weights[i] * (1 - forces.loss);
      if (out.s4.size() > 0) {
        law.add_statistics(m, count, exposure, intensities_[i], weights[i], as_span(out.s4));
      }
    }
    out.s2.row(m) += (states.transpose() * gains_).transpose().cwiseProduct(basis.row(m));
    if (has_losses) out.unseen.row(m) += (states.transpose() * losses_).transpose();
  });
}

std::unique_ptr<StateLikelihoods> PlainStateLikelihoods::clone() const {
  return std::make_unique<PlainStateLikelihoods>(*this);
}

void PlainStateLikelihoods::set_emission(const Emission& emission) {
  emission_ = std::make_shared<const Emission>(emission);
}

void PlainStateLikelihoods::log_likelihoods(const Observation& y, Eigen::Ref<Vector> out) {
  emission_->look_at(y, evidence_);
  evidence_.gather_rows();
  evidence_.log_likelihoods(states(), as_span(out));
}

std::unique_ptr<StateLikelihoods> BlockLaw::state_likelihoods(Matrix states) const {
  return std::make_unique<PlainStateLikelihoods>(std::move(states));
}

std::unique_ptr<EmissionSums> BlockLaw::sums() const { return std::make_unique<PlainSums>(); }

}  // namespace headwater
