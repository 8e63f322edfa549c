#include "headwater/filters/beam_filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "headwater/core/error.hpp"
#include "headwater/core/infinity.hpp"
#include "headwater/filters/optimal_resampling.hpp"
#include "headwater/kernels/log_weights.hpp"
#include "headwater/random/distributions.hpp"

namespace headwater {

namespace {

// So many times the width are weighed before they are thinned out.
constexpr Index kCandidatesPerState = 4;
// ... and the neighbours of so many times the width are looked at, at most.
constexpr Index kExpandedPerState = 4;
// Where the search begins: the most probable states of the step before.
constexpr std::size_t kSeeds = 4;
// A candidate of less weight is not kept.
constexpr double kNegligible = 1e-11;

}  // namespace

void BeamOptions::validate() const {
  if (width < 1) throw UsageError(fmt::format("beam-width is {}; expected 1 or more", width));
}

BeamFilter::BeamFilter(const FiniteChain& chain, const Matrix& basis, const BeamOptions& options)
    : options_(options), random_(options.seed) {
  options.validate();
  set_chain(chain);
  set_basis(basis);
}

void BeamFilter::set_chain(const FiniteChain& chain) {
  chain_ = std::make_shared<const PackedChain>(chain);
}

void BeamFilter::set_basis(const Matrix& basis) {
  basis_ = basis;
  column_sums_ = basis.colwise().sum();
}

bool BeamFilter::holds_all() const {
  return chain_->num_states_up_to(options_.width + 1) <= options_.width;
}

FilterStep BeamFilter::step(Observation y) {
  ++time_;
  predict_axes();
  FilterStep step;
  seen_.look_at(y, basis_, column_sums_);
  double log_normaliser = take_in(step);
  if (log_normaliser == kMinusInfinity) {
    step.impossible = true;
    step.log_predictive = kMinusInfinity;
    const std::vector<double> nothing(y.size(), std::numeric_limits<double>::quiet_NaN());
    seen_.look_at(nothing, basis_, column_sums_);
    take_in(step);
  } else {
    step.log_predictive = log_normaliser + log_base_measure(y);
  }
  keep(step);
  return step;
}

// The predicted law of each axis alone, and with it the predicted activation. The states that were
// kept have, by chance, marginal laws other than all that were weighed; what they predict is tilted
// so that the marginal laws are right.
void BeamFilter::predict_axes() {
  const PackedChain& chain = *chain_;
  const auto num_axes = static_cast<std::size_t>(chain.num_axes());
  laws_.resize(num_axes);
  tilts_.resize(num_axes);
  predicted_.setOnes(basis_.cols());
  Index column = 0;
  for (std::size_t k = 0; k < num_axes; ++k) {
    const FiniteAxis& axis = chain.axis(static_cast<Index>(k));
    Vector& law = laws_[k];
    tilts_[k].setZero(axis.size());
    if (time_ == 1) {
      law = axis.initial;
    } else {
      law = axis.transition.transpose() * marginals_[k];
      const Vector by_kept = axis.transition.transpose() * kept_marginal(static_cast<Index>(k));
      for (Index i = 0; i < axis.size(); ++i) {
        if (law[i] > 0 && by_kept[i] > 0) tilts_[k][i] = std::log(law[i] / by_kept[i]);
      }
    }
    predicted_.segment(column, axis.states.cols()) = axis.states.transpose() * law;
    column += axis.states.cols();
    law = law.array().log();
  }
}

Vector BeamFilter::kept_marginal(Index axis) const {
  Vector marginal = Vector::Zero(chain_->axis(axis).size());
  for (std::size_t i = 0; i < states_.size(); ++i) {
    marginal[chain_->on_axis(states_[i], axis)] += weights_[static_cast<Index>(i)];
  }
  return marginal;
}

void BeamFilter::choose_candidates() {
  overlooked_ = 0;
  candidates_.clear();
  if (holds_all()) {
    const Index all = chain_->num_states_up_to(options_.width);
    for (Index i = 0; i < all; ++i) candidates_.push_back(chain_->packed(i));
    return;
  }
  std::vector<PackedState> begin;
  PackedState likeliest = 0;
  for (Index k = 0; k < chain_->num_axes(); ++k) {
    Index best = 0;
    laws_[static_cast<std::size_t>(k)].maxCoeff(&best);
    likeliest = chain_->with_axis(likeliest, k, best);
  }
  begin.push_back(likeliest);
  for (std::size_t i = 0; i < std::min(kSeeds, states_.size()); ++i) begin.push_back(states_[i]);
  search_.look_at(*chain_, basis_, seen_, laws_);
  search_.run(begin, kExpandedPerState * options_.width);

  const std::span<StateSearch::Found> found = search_.found();
  const auto most = static_cast<std::size_t>(kCandidatesPerState * options_.width);
  const auto better = [](const StateSearch::Found& a, const StateSearch::Found& b) {
    return a.score > b.score || (a.score == b.score && a.state < b.state);
  };
  std::ranges::sort(found, better);
  double weighed = 0;
  double all = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double mass = std::exp(found[i].score - found[0].score);
    all += mass;
    if (i >= most) continue;
    weighed += mass;
    candidates_.push_back(found[i].state);
  }
  overlooked_ = 1 - weighed / all;
  // Neighbours in this order differ little, and so thinning out changes the marginal laws little.
  std::ranges::sort(candidates_);
}

void BeamFilter::weigh_beforehand() {
  const auto count = static_cast<Index>(candidates_.size());
  log_weights_.resize(count);
  transitions_.resize(states_.size());
  for (Index i = 0; i < count; ++i) {
    const PackedState state = candidates_[static_cast<std::size_t>(i)];
    double probability = 0;
    if (time_ == 1) {
      probability = chain_->initial_probability(state);
    } else {
      chain_->transitions_to(state, states_, transitions_);
      probability = weights_.dot(Eigen::Map<const Vector>(transitions_.data(), weights_.size()));
    }
    log_weights_[i] = std::log(probability);
    for (Index k = 0; k < chain_->num_axes(); ++k) {
      log_weights_[i] += tilts_[static_cast<std::size_t>(k)][chain_->on_axis(state, k)];
    }
  }
}

double BeamFilter::take_in(FilterStep& step) {
  choose_candidates();
  const auto count = static_cast<Index>(candidates_.size());
  activations_.resize(count, basis_.cols());
  chain_->activations(candidates_, activations_);
  candidate_weights_.resize(count);
  weigh_beforehand();
  log_likelihoods(activations_, seen_, as_span(candidate_weights_));
  log_weights_ += candidate_weights_;
  return normalise_log_weights(as_span(log_weights_), as_span(candidate_weights_),
                               &step.effective_size);
}

// The states that the next step goes on from, the most probable first.
void BeamFilter::keep(FilterStep& step) {
  filtered_ = activations_.transpose() * candidate_weights_;
  marginals_.resize(laws_.size());
  for (std::size_t k = 0; k < laws_.size(); ++k) {
    marginals_[k].setZero(laws_[k].size());
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      marginals_[k][chain_->on_axis(candidates_[i], static_cast<Index>(k))] +=
          candidate_weights_[static_cast<Index>(i)];
    }
  }
  if (!holds_all()) {
    candidate_weights_ = (candidate_weights_.array() < kNegligible).select(0, candidate_weights_);
  }
  const Vector before = candidate_weights_;
  Generator generator = random_.at(time_, 0, Purpose::resampling);
  thin_out(as_span(candidate_weights_), options_.width, generator.uniform(), kept_);
  if (!holds_all()) {
    std::erase_if(kept_, [&](Index i) { return candidate_weights_[i] == 0; });
    std::ranges::stable_sort(
        kept_, [&](Index a, Index b) { return candidate_weights_[a] > candidate_weights_[b]; });
  }
  before_.swap(states_);
  weights_before_.swap(weights_);
  states_.clear();
  weights_.resize(static_cast<Index>(kept_.size()));
  double share = 0;
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    states_.push_back(candidates_[static_cast<std::size_t>(kept_[i])]);
    weights_[static_cast<Index>(i)] = candidate_weights_[kept_[i]];
    share += before[kept_[i]];
  }
  weights_ /= weights_.sum();
  step.num_states = static_cast<Index>(states_.size());
  step.lost_mass = holds_all() ? 0 : std::max(0.0, 1 - (1 - overlooked_) * share);
}

void BeamFilter::sample_predicted(Generator& generator, Matrix& out) const {
  const PackedChain& chain = *chain_;
  std::vector<PackedState> drawn(1);
  Matrix x(1, out.cols());
  for (auto row : out.rowwise()) {
    const PackedState from =
        before_.empty() ? 0 : before_[categorical(generator, as_span(weights_before_))];
    for (Index k = 0; k < chain.num_axes(); ++k) {
      const FiniteAxis& axis = chain.axis(k);
      const Vector law =
          before_.empty() ? axis.initial : Vector(axis.transition.row(chain.on_axis(from, k)));
      drawn[0] =
          chain.with_axis(drawn[0], k, static_cast<Index>(categorical(generator, as_span(law))));
    }
    chain.activations(drawn, x);
    row = x.row(0);
  }
}

void BeamFilter::exchange(StateArchive& archive) {
  Matrix basis = basis_;
  archive(basis, time_, predicted_, filtered_, marginals_);
  exchange_packed(archive, *chain_, chain_);
  exchange_states(archive, *chain_, states_, weights_);
  exchange_states(archive, *chain_, before_, weights_before_);
  if (archive.is_reading()) set_basis(basis);
}

}  // namespace headwater
