#include "headwater/filters/particle_filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

#include "headwater/core/error.hpp"
#include "headwater/kernels/all_finite.hpp"
#include "headwater/kernels/gather.hpp"
#include "headwater/kernels/log_weights.hpp"

namespace headwater {

namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();
constexpr Index kMostParticles = Index{1} << 24;

double effective_size(const Vector& weights) { return 1 / weights.squaredNorm(); }

// `ancestors` is ascending.
Index count_unique(const Ancestors& ancestors) {
  Index count = ancestors.empty() ? 0 : 1;
  for (std::size_t i = 1; i < ancestors.size(); ++i) count += ancestors[i] != ancestors[i - 1];
  return count;
}

}  // namespace

void ParticleFilterOptions::validate() const {
  if (num_particles < 1 || num_particles > kMostParticles) {
    throw UsageError(fmt::format("particles is {}; expected a number from 1 to {}", num_particles,
                                 kMostParticles));
  }
  if (!(resample_below >= 0)) {
    throw UsageError(fmt::format("resample-below is {}; expected 0 or more", resample_below));
  }
}

ParticleFilter::ParticleFilter(const AnyPrior& prior, const Matrix& basis,
                               const ParticleFilterOptions& options,
                               std::shared_ptr<const ThreadPool> pool)
    : prior_(prior),
      options_(options),
      pool_(std::move(pool)),
      proposal_(std::make_unique<PriorProposal>()),
      random_(options.seed) {
  options_.validate();
  assert(basis.cols() == prior.num_components() || basis.cols() == prior.num_components() + 1);
  set_basis(basis);
  const Index n = options_.num_particles;
  states_.resize(n, prior_.state_size());
  previous_.resize(n, prior_.state_size());
  parents_.resize(n, prior_.state_size());
  activations_.setOnes(n, basis.cols());  // a background stays at one
  ancestors_.resize(static_cast<std::size_t>(n));
  log_correction_.setZero(n);
  log_carried_.resize(n);
  log_weights_.resize(n);
  weights_.resize(n);
}

ParticleFilter::ParticleFilter(const ParticleFilter& other)
    : prior_(other.prior_),
      basis_(other.basis_),
      column_sums_(other.column_sums_),
      options_(other.options_),
      pool_(other.pool_),
      proposal_(other.proposal_->clone()),
      random_(other.random_),
      time_(other.time_),
      states_(other.states_),
      previous_(other.previous_),
      parents_(other.parents_),
      activations_(other.activations_),
      ancestors_(other.ancestors_),
      log_correction_(other.log_correction_),
      log_carried_(other.log_carried_),
      log_weights_(other.log_weights_),
      weights_(other.weights_),
      log_worth_(other.log_worth_) {}

void ParticleFilter::set_basis(const Matrix& basis) {
  basis_ = basis;
  column_sums_ = basis_.colwise().sum();
}

void ParticleFilter::exchange(StateArchive& archive) {
  Matrix basis = basis_;
  archive(prior_, basis, time_, states_, activations_, ancestors_, log_correction_, log_carried_,
          log_weights_, weights_, log_worth_);
  if (archive.is_reading()) set_basis(basis);
}

FilterStep ParticleFilter::step(Observation y) {
  assert(static_cast<Index>(y.size()) == basis_.rows());
  FilterStep report;
  if (++time_ == 1) {
    std::iota(ancestors_.begin(), ancestors_.end(), 0);
    weigh_equally();
    report.unique_ancestors = num_particles();
  } else {
    proposal_->look_ahead(prior_, basis_, y, states_, weights_);
    report.resampled = choose_ancestors();
    report.unique_ancestors = report.resampled ? count_unique(ancestors_) : num_particles();
    states_.swap(previous_);
  }
  seen_.look_at(y, basis_, column_sums_);
  for_each_chunk(*pool_, num_particles(), kParticleChunk, [&](Index first, Index size, Index) {
    draw(first, size);
    const auto x = activations_.middleRows(first, size);
    prior_.activations(states_.middleRows(first, size),
                       activations_.block(first, 0, size, prior_.num_components()));
    log_likelihoods(x, seen_, as_span(log_weights_).subspan(first, size));
    rule_out_what_is_no_number(first, size);
  });
  const bool nothing_was_said = !seen_.any() && !proposal_->has_worths();
  const double log_normaliser = nothing_was_said ? keep_carried_weights() : take_in_likelihoods();
  report.effective_size = effective_size(weights_);
  report.impossible = log_normaliser == kMinusInfinity;
  report.log_predictive =
      report.impossible ? kMinusInfinity : log_worth_ + log_normaliser + log_base_measure(y);
  return report;
}

// The carried weights are part of the normaliser: without them the likelihood would be wrong
// whenever the step did not resample.
double ParticleFilter::take_in_likelihoods() {
  log_weights_ += log_carried_ + log_correction_;
  const double log_normaliser = normalise_log_weights(as_span(log_weights_), as_span(weights_));
  if (log_normaliser == kMinusInfinity) keep_carried_weights();
  return log_normaliser;
}

// The weights themselves have been the carried ones since the ancestors were chosen.
double ParticleFilter::keep_carried_weights() {
  log_weights_ = log_carried_;
  return 0;
}

// Zero in place of what a prior should not have returned: times a weight of zero, NaN is still NaN.
void ParticleFilter::rule_out_what_is_no_number(Index first, Index size) {
  if (all_finite(activations_.middleRows(first, size))) return;
  for (Index i = first; i < first + size; ++i) {
    auto x = activations_.row(i).head(prior_.num_components());
    if (x.allFinite()) continue;
    x.setZero();
    log_weights_[i] = kMinusInfinity;
  }
}

// The states of so many particles, from their ancestors' or, at first, from nothing.
void ParticleFilter::draw(Index first, Index size) {
  const auto address = [&](Purpose purpose) {
    return RandomBlock{random_, time_, static_cast<std::uint32_t>(first), purpose};
  };
  auto next = states_.middleRows(first, size);
  if (time_ == 1) {
    prior_.sample_initial(address(Purpose::first_particles), next);
    return;
  }
  auto parents = parents_.middleRows(first, size);
  gather_rows(previous_, std::span(ancestors_).subspan(first, size), parents);
  proposal_->draw(prior_, address(Purpose::particle_moves), parents, next,
                  log_correction_.segment(first, size));
}

// By the weights of the step before, times the worths that the proposal sees in the particles.
bool ParticleFilter::choose_ancestors() {
  const auto n = static_cast<double>(num_particles());
  log_worth_ = 0;
  if (proposal_->has_worths()) {
    proposal_->log_worths(prior_, states_, log_correction_);
    log_weights_ += log_correction_;
    log_worth_ = normalise_log_weights(as_span(log_weights_), as_span(weights_));
  }
  const bool resamples =
      options_.resample_below >= 1 || effective_size(weights_) < options_.resample_below * n;
  if (resamples) {
    Generator generator = random_.at(time_, 0, Purpose::resampling);
    resample(options_.resampling, as_span(weights_), generator, ancestors_);
    weigh_equally();
  } else {
    std::iota(ancestors_.begin(), ancestors_.end(), 0);
    log_carried_ = log_weights_;
  }
  return resamples;
}

void ParticleFilter::weigh_equally() {
  const auto n = static_cast<double>(num_particles());
  weights_.setConstant(1 / n);
  log_carried_.setConstant(-std::log(n));
}

Vector ParticleFilter::predicted_weights() const {
  const Vector carried = (log_carried_ + log_correction_).array().exp();
  return carried / carried.sum();
}

Vector ParticleFilter::predicted_activation() const {
  return activations_.transpose() * predicted_weights();
}

Vector ParticleFilter::filtered_activation() const { return activations_.transpose() * weights_; }

}  // namespace headwater
