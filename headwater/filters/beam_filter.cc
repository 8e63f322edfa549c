#include "headwater/filters/beam_filter.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

#include "headwater/core/infinity.hpp"
#include "headwater/core/state_checks.hpp"
#include "headwater/filters/optimal_resampling.hpp"
#include "headwater/kernels/log_weights.hpp"
#include "headwater/random.hpp"

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

BeamFilter::BeamFilter(const FiniteChain& chain, const Emission& emission,
                       const BeamOptions& options)
    : emission_(emission), options_(options), random_(options.seed) {
  assert(options.width >= 1);
  set_chain(chain);
  nothing_seen_.assign_missing(emission.num_channels());
}

void BeamFilter::set_chain(const FiniteChain& chain) {
  chain_ = std::make_shared<const PackedChain>(chain);
}

void BeamFilter::restart() {
  first_time_ = time_ + 1;
  states_.clear();
  weights_.clear();
}

bool BeamFilter::holds_all() const {
  return chain_->num_states_up_to(options_.width + 1) <= options_.width;
}

FilterStep BeamFilter::step(const Observation& y) {
  ++time_;
  predict_axes();
  BeamReport report;
  emission_.look_at(y, evidence_);
  const double log_normaliser = take_in(report);
  const bool is_impossible = log_normaliser == kMinusInfinity;
  if (is_impossible) {
    emission_.look_at(nothing_seen_, evidence_);
    take_in(report);
  }
  keep(report);
  const double log_predictive =
      is_impossible ? kMinusInfinity : log_normaliser + emission_.log_base_measure(y);
  return {log_predictive, is_impossible, report};
}

// The predicted law of each axis alone, and with it the predicted activation. Thinning perturbs the
// marginals; predictions are reweighted to restore those of the full candidate set.
void BeamFilter::predict_axes() {
  const PackedChain& chain = *chain_;
  const auto num_axes = static_cast<std::size_t>(chain.num_axes());
  laws_.resize(num_axes);
  tilts_.resize(num_axes);
  predicted_.setOnes(emission_.num_columns());
  Index column = 0;
  for (std::size_t k = 0; k < num_axes; ++k) {
    const FiniteAxis& axis = chain.axis(static_cast<Index>(k));
    Vector& law = laws_[k];
    tilts_[k].setZero(axis.size());
    if (is_first()) {
      law = axis.initial;
    } else {
      law.noalias() = axis.transition.transpose() * marginals_[k];
      set_kept_marginal(static_cast<Index>(k));
      by_kept_.noalias() = axis.transition.transpose() * kept_marginal_;
      for (Index i = 0; i < axis.size(); ++i) {
        if (law[i] > 0 && by_kept_[i] > 0) tilts_[k][i] = std::log(law[i] / by_kept_[i]);
      }
    }
    predicted_.segment(column, axis.states.cols()).noalias() = axis.states.transpose() * law;
    column += axis.states.cols();
    law = law.array().log();
  }
}

void BeamFilter::set_kept_marginal(Index axis) {
  kept_marginal_.setZero(chain_->axis(axis).size());
  for (std::size_t i = 0; i < states_.size(); ++i) {
    kept_marginal_[chain_->on_axis(states_[i], axis)] += weights_[i];
  }
}

void BeamFilter::choose_candidates() {
  overlooked_ = 0;
  candidates_.clear();
  if (holds_all()) {
    const Index all = chain_->num_states_up_to(options_.width);
    for (Index i = 0; i < all; ++i) candidates_.push_back(chain_->packed(i));
    return;
  }
  begin_.clear();
  PackedState likeliest = 0;
  for (Index k = 0; k < chain_->num_axes(); ++k) {
    Index best = 0;
    laws_[static_cast<std::size_t>(k)].maxCoeff(&best);
    likeliest = chain_->with_axis(likeliest, k, best);
  }
  begin_.push_back(likeliest);
  for (std::size_t i = 0; i < std::min(kSeeds, states_.size()); ++i) begin_.push_back(states_[i]);
  search_.look_at(*chain_, evidence_, laws_);
  search_.run(begin_, kExpandedPerState * options_.width);

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
  auto log_weights = log_weights_.resize(count);
  transitions_.resize(states_.size());
  const Eigen::Map<const Vector> transitions(transitions_.data(), weights().size());
  for (Index i = 0; i < count; ++i) {
    const PackedState state = candidates_[static_cast<std::size_t>(i)];
    double probability = 0;
    if (is_first()) {
      probability = chain_->initial_probability(state);
    } else {
      chain_->transitions_to(state, states_, transitions_);
      probability = weights().dot(transitions);
    }
    log_weights[i] = std::log(probability);
    for (Index k = 0; k < chain_->num_axes(); ++k) {
      log_weights[i] += tilts_[static_cast<std::size_t>(k)][chain_->on_axis(state, k)];
    }
  }
}

double BeamFilter::take_in(BeamReport& report) {
  choose_candidates();
  const auto count = static_cast<Index>(candidates_.size());
  auto activations = activations_.resize(count, emission_.num_columns());
  chain_->activations(candidates_, activations);
  auto weights = candidate_weights_.resize(count);
  weigh_beforehand();
  evidence_.gather_rows();
  evidence_.log_likelihoods(activations, as_span(weights));
  auto log_weights = log_weights_.view();
  log_weights += weights;
  return normalise_log_weights(as_span(log_weights), as_span(weights), &report.effective_size);
}

// The states that the next step goes on from, the most probable first.
void BeamFilter::keep(BeamReport& report) {
  auto weights = candidate_weights_.view();
  filtered_.noalias() = activations_.view().transpose() * weights;
  marginals_.resize(laws_.size());
  for (std::size_t k = 0; k < laws_.size(); ++k) {
    marginals_[k].setZero(laws_[k].size());
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      marginals_[k][chain_->on_axis(candidates_[i], static_cast<Index>(k))] +=
          weights[static_cast<Index>(i)];
    }
  }
  if (!holds_all()) weights = (weights.array() < kNegligible).select(0, weights);
  auto unthinned = weights_unthinned_.resize(weights.size());
  unthinned = weights;
  Generator generator = random_.at(time_, 0, Purpose::resampling);
  thin_out(as_span(weights), options_.width, generator.uniform(), kept_);
  if (!holds_all()) {
    std::erase_if(kept_, [&](Index i) { return weights[i] == 0; });
    std::ranges::sort(kept_, [&](Index a, Index b) {
      return weights[a] > weights[b] || (weights[a] == weights[b] && a < b);
    });
  }
  before_.swap(states_);
  weights_before_.swap(weights_);
  states_.clear();
  weights_.clear();
  double share = 0;
  for (const Index i : kept_) {
    states_.push_back(candidates_[static_cast<std::size_t>(i)]);
    weights_.push_back(weights[i]);
    share += unthinned[i];
  }
  Eigen::Map<Vector> kept(weights_.data(), static_cast<Index>(weights_.size()));
  kept /= kept.sum();
  report.num_states = kept.size();
  report.lost_mass = holds_all() ? 0 : std::max(0.0, 1 - (1 - overlooked_) * share);
}

void BeamFilter::sample_predicted(Generator& generator, Matrix& out) const {
  const PackedChain& chain = *chain_;
  std::vector<PackedState> drawn(1);
  Matrix x(1, out.cols());
  for (auto row : out.rowwise()) {
    const PackedState from = before_.empty() ? 0 : before_[categorical(generator, weights_before_)];
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
  archive(emission_, time_, first_time_, predicted_, filtered_, marginals_);
  exchange_packed(archive, *chain_, chain_);
  exchange_states(archive, *chain_, states_, weights_);
  exchange_states(archive, *chain_, before_, weights_before_);
  if (!archive.is_reading()) return;
  archive.expect(is_count(static_cast<std::int64_t>(time_)), "an invalid time");
  archive.expect(first_time_ >= 1 && first_time_ <= std::max<std::uint64_t>(time_, 1),
                 "a sequence that begins in the future");
  if (time_ == 0) return;
  const auto has_law = [&](Index k) {
    const Vector& law = marginals_[static_cast<std::size_t>(k)];
    return law.size() == chain_->axis(k).size() && is_law(law);
  };
  bool have_laws = static_cast<Index>(marginals_.size()) == chain_->num_axes();
  for (Index k = 0; have_laws && k < chain_->num_axes(); ++k) have_laws = has_law(k);
  archive.expect(have_laws && is_law(weights_) && (before_.empty() || is_law(weights_before_)),
                 "invalid probabilities");
  archive.expect(
      predicted_.size() == emission_.num_columns() && filtered_.size() == emission_.num_columns(),
      "activations of the wrong size");
}

}  // namespace headwater
