#include "headwater/filters/particle_filter.hpp"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cmath>
#include <numeric>

#include "headwater/core/infinity.hpp"
#include "headwater/core/state_checks.hpp"
#include "headwater/filters/guided_proposal.hpp"
#include "headwater/kernels/all_finite.hpp"
#include "headwater/kernels/gather.hpp"

namespace headwater {

namespace {

// Of ascending ancestors, those in [first, first + size) that the one before is not.
Index count_new(const Ancestors& ancestors, Index first, Index size) {
  Index count = first == 0 ? 1 : 0;
  for (Index i = std::max<Index>(first, 1); i < first + size; ++i) {
    count += ancestors[i] != ancestors[i - 1];
  }
  return count;
}

}  // namespace

ParticleFilter::ParticleFilter(const AnyPrior& prior, const Emission& emission,
                               const ParticleFilterOptions& options,
                               std::shared_ptr<const ThreadPool> pool)
    : prior_(prior),
      emission_(emission),
      options_(options),
      pool_(std::move(pool)),
      proposal_(std::make_unique<PriorProposal>()),
      random_(options.seed) {
  assert(options_.num_particles >= 1 && options_.resample_below >= 0);
  assert(options_.bridge_below >= 0 && options_.bridge_below <= 1);
  if (options_.guided) become_guided();
  assert(emission.num_columns() == prior.num_components() ||
         emission.num_columns() == prior.num_components() + 1);
  const Index n = options_.num_particles;
  states_.resize(n, prior_.state_size());
  previous_.resize(n, prior_.state_size());
  parents_.resize(n, prior_.state_size());
  activations_.setOnes(n, emission.num_columns());  // a background stays at one
  ancestors_.resize(static_cast<std::size_t>(n));
  log_likelihoods_.resize(n);
  log_surrogates_.setZero(n);
  log_carried_.resize(n);
  log_weights_.resize(n);
  weights_.resize(n);
}

void ParticleFilter::become_guided() {
  options_.guided = true;
  proposal_ = std::make_unique<GuidedProposal>(prior_);
}

void ParticleFilter::exchange(StateArchive& archive) {
  bool is_guided = options_.guided;
  archive(is_guided, health_);
  archive.expect(is_guided == options_.guided || (is_guided && options_.guided_if_low),
                 "another proposal");
  if (is_guided && !options_.guided) become_guided();
  archive(prior_, emission_, time_, first_time_, states_, activations_, ancestors_, log_carried_,
          log_weights_, weights_, log_worth_, bridge_);
  if (!archive.is_reading()) return;
  archive.expect(is_count(static_cast<std::int64_t>(time_)), "an invalid time");
  archive.expect(first_time_ >= 1 && first_time_ <= std::max<std::uint64_t>(time_, 1),
                 "a sequence that begins in the future");
  if (time_ == 0) return;  // the particles are nowhere yet
  archive.expect(are_states_of(prior_, states_), "states that the prior does not have");
  archive.expect(static_cast<Index>(ancestors_.size()) == num_particles() &&
                     are_indices(std::span<const std::int32_t>(ancestors_), num_particles()),
                 "particles without an ancestor");
  archive.expect(
      is_law(weights_) && is_law(log_carried_.array().exp()) && is_law(log_weights_.array().exp()),
      "invalid weights");
}

bool are_states_of(const AnyPrior& prior, const Matrix& states) {
  if (states.cols() != prior.state_size()) return false;
  if (!prior.is_finite()) return true;  // any number is a state
  const FiniteChain& chain = prior.finite_chain();
  for (std::size_t k = 0; k < chain.axes.size(); ++k) {
    const auto size = static_cast<double>(chain.axes[k].size());
    const auto on_axis = states.col(static_cast<Index>(k)).array();
    if (!(on_axis >= 0 && on_axis < size && on_axis == on_axis.floor()).all()) return false;
  }
  return true;
}

FilterStep ParticleFilter::step(const Observation& y) {
  assert(y.num_channels() == emission_.num_channels());
  ParticleReport report;
  ++time_;
  emission_.look_at(y, evidence_);
  evidence_.gather_rows();
  proposal_->look_ahead(prior_, evidence_, cloud(), weights_.head(cloud().rows()), *pool_);
  report.guided = proposal_->has_worths();
  report.resampled = choose_ancestors();
  states_.swap(previous_);
  std::atomic<Index> unique_ancestors = 0;
  for_each_chunk(*pool_, num_particles(), kParticleChunk, [&](Index first, Index size, Index) {
    move(first, size);
    evidence_.log_likelihoods(activations_.middleRows(first, size),
                              as_span(log_likelihoods_).subspan(first, size));
    rule_out_what_is_no_number(first, size);
    unique_ancestors += count_new(ancestors_, first, size);
  });
  const double log_normaliser =
      evidence_.any() ? take_in_likelihoods(report) : keep_carried_weights();
  report.unique_ancestors = report.bridge_stages > 0 ? count_new(ancestors_, 0, num_particles())
                                                     : unique_ancestors.load();
  report.effective_size = effective_size();
  if (options_.guided_if_low && !options_.guided) {
    health_.add(report, num_particles());
    if (health_.is_low_now()) become_guided();
  }
  const bool is_impossible = log_normaliser == kMinusInfinity;
  const double log_predictive =
      is_impossible ? kMinusInfinity : log_worth_ + log_normaliser + emission_.log_base_measure(y);
  return {log_predictive, is_impossible, report};
}

Eigen::Ref<const Matrix> ParticleFilter::cloud() const {
  return states_.topRows(is_first() ? 0 : num_particles());
}

// By the weights of the step before, times the worths that the proposal sees in the particles.
bool ParticleFilter::choose_ancestors() {
  const bool looks_ahead = proposal_->has_worths();
  log_worth_ = 0;
  if (is_first()) {
    std::iota(ancestors_.begin(), ancestors_.end(), 0);
    weigh_equally();
    if (looks_ahead) log_worth_ = proposal_->log_worths()[0];
    return false;
  }
  if (looks_ahead) {
    previous_weights_ = weights_;
    log_weights_ += proposal_->log_worths();
    log_worth_ = normalise();
  }
  const double wanted = options_.resample_below * static_cast<double>(num_particles());
  const bool resamples = options_.resample_below >= 1 || effective_size() < wanted;
  if (resamples) {
    Generator generator = random_.at(time_, 0, Purpose::resampling);
    resampling_.resample(options_.resampling, as_span(weights_), generator, ancestors_, *pool_);
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

RandomBlock ParticleFilter::random_block(Index first, Purpose purpose) const {
  return {random_, time_, static_cast<std::uint32_t>(first), purpose};
}

// The states of so many particles, from their ancestors' or, at first, from nothing.
void ParticleFilter::move(Index first, Index size) {
  const bool begins = is_first();
  const auto purpose = begins ? Purpose::first_particles : Purpose::particle_moves;
  const auto ancestors = std::span(ancestors_).subspan(first, size);
  auto parents = parents_.middleRows(first, begins ? 0 : size);
  if (!begins) gather_rows(previous_, ancestors, parents);
  auto next = states_.middleRows(first, size);
  proposal_->draw(prior_, random_block(first, purpose), parents, ancestors, next);
  prior_.activations(next, activations_.block(first, 0, size, prior_.num_components()));
  if (proposal_->has_worths()) {
    proposal_->log_values(next, log_surrogates_.segment(first, size));
  } else {
    log_surrogates_.segment(first, size).setZero();
  }
}

// Zero in place of what a prior should not have returned: times a weight of zero, NaN is still NaN.
void ParticleFilter::rule_out_what_is_no_number(Index first, Index size) {
  if (all_finite(activations_.middleRows(first, size))) return;
  for (Index i = first; i < first + size; ++i) {
    auto x = activations_.row(i).head(prior_.num_components());
    if (x.allFinite()) continue;
    x.setZero();
    log_likelihoods_[i] = kMinusInfinity;
    log_surrogates_[i] = 0;
  }
}

double ParticleFilter::normalise() {
  return shared_.normalise(*pool_, as_span(log_weights_), as_span(weights_));
}

double ParticleFilter::effective_size() {
  return shared_.effective_size(*pool_, as_span(weights_));
}

// The carried weights are part of the normaliser: without them the likelihood would be wrong
// whenever the step did not resample.
double ParticleFilter::take_in_likelihoods(ParticleReport& report) {
  const auto weigh = [&](double power) {
    for_each_chunk(*pool_, num_particles(), kWeightsInAPart, [&](Index first, Index size, Index) {
      log_weights_.segment(first, size) =
          log_carried_.segment(first, size) +
          power * (log_likelihoods_.segment(first, size) - log_surrogates_.segment(first, size));
    });
    return normalise();
  };
  double log_normaliser = weigh(1);
  if (log_normaliser == kMinusInfinity) {
    keep_carried_weights();
    return log_normaliser;
  }
  const double wanted = options_.bridge_below * static_cast<double>(num_particles());
  if (proposal_->can_bridge() && effective_size() < wanted) {
    if (is_first()) parents_.resize(0, parents_.cols());
    const Bridge::Crossing crossing =
        bridge_.cross(prior_, *proposal_, evidence_, options_.resampling,
                      random_block(0, Purpose::bridges), *pool_,
                      {parents_, states_, activations_, ancestors_, log_carried_, log_likelihoods_,
                       log_surrogates_});
    parents_.resize(num_particles(), prior_.state_size());
    report.bridge_stages = crossing.stages;
    log_normaliser = crossing.log_normaliser + weigh(crossing.left);
  }
  return log_normaliser;
}

// The weights themselves have been the carried ones since the ancestors were chosen. Where
// particles looked ahead, to leave the law as predicted is to take that back.
double ParticleFilter::keep_carried_weights() {
  log_weights_ = log_carried_;
  if (proposal_->has_worths()) {
    log_weights_ -= log_surrogates_;
    normalise();
  }
  return 0;
}

// Particles that have looked ahead are not where the prior alone would lead, and others are drawn.
WeightedActivations ParticleFilter::predicted() const {
  if (!proposal_->has_worths()) {
    const Vector carried = log_carried_.array().exp();
    return {activations_, carried / carried.sum()};
  }
  const Index n = num_particles();
  WeightedActivations cloud{Matrix::Ones(n, emission_.num_columns()), previous_weights_};
  Matrix states(n, prior_.state_size());
  const RandomBlock random = random_block(0, Purpose::predictions);
  if (is_first()) {
    cloud.weights = Vector::Constant(n, 1 / static_cast<double>(n));
    prior_.sample_initial(random, states);
  } else {
    prior_.sample_transition(random, previous_, states);
  }
  prior_.activations(states, cloud.activations.leftCols(prior_.num_components()));
  return cloud;
}

Vector ParticleFilter::predicted_activation() const {
  const WeightedActivations cloud = predicted();
  return cloud.activations.transpose() * cloud.weights;
}

Vector ParticleFilter::filtered_activation() const { return activations_.transpose() * weights_; }

}  // namespace headwater
