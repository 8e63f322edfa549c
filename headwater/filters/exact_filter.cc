#include "headwater/filters/exact_filter.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "headwater/core/infinity.hpp"
#include "headwater/core/state_checks.hpp"
#include "headwater/error.hpp"
#include "headwater/kernels/elementary.hpp"

namespace headwater {

namespace {

// States below this count as ruled out: their ratio to the data could not be represented.
constexpr double kReachable = std::numeric_limits<double>::min();
// Below this a normaliser has lost digits to underflow.
constexpr double kSmallestNormaliser = 1e-280;
// Numbers in the likelihoods that are kept for the phases of a season: 64 MB.
constexpr Index kMostKeptLikelihoods = Index{1} << 23;

}  // namespace

Matrix states_with_background(const FiniteChain& chain, Index num_columns) {
  Matrix states = chain.joint_states();
  assert(num_columns == states.cols() || num_columns == states.cols() + 1);
  if (num_columns > states.cols()) {
    states.conservativeResize(Eigen::NoChange, num_columns);
    states.rightCols(1).setOnes();
  }
  return states;
}

ExactFilter::ExactFilter(const FiniteChain& chain, const Emission& emission)
    : emission_(emission),
      likelihoods_(emission.law()->state_likelihoods(
          states_with_background(chain, emission.num_columns()))) {
  set_chain(chain);
  forget_likelihoods();
  const Index n = likelihoods_->num_states();
  log_likelihood_.resize(n);
  predicted_.resize(n);
  filtered_.resize(n);
  ratio_.resize(n);
}

void ExactFilter::set_chain(const FiniteChain& chain) {
  transition_ = std::make_shared<const KroneckerOperator>(chain.joint_transition());
  initial_ = chain.joint_initial();
}

void ExactFilter::set_basis(const Matrix& basis) {
  emission_.set_basis(basis);
  forget_likelihoods();
}

void ExactFilter::set_law(const AnyLaw& law) {
  emission_.set_law(law);
  forget_likelihoods();
}

void ExactFilter::set_season(const Season& season) {
  emission_.set_season(season);
  forget_likelihoods();
}

void ExactFilter::forget_likelihoods() {
  if (emission_.season().empty()) likelihoods_->set_emission(emission_);
  at_phase_.clear();
}

// Those of a phase are made when it is first visited.
StateLikelihoods& ExactFilter::likelihoods_at(std::int64_t position) {
  const Season& season = emission_.season();
  if (season.empty()) return *likelihoods_;
  const std::int64_t cycle = season.cycle();
  if (cycle > 0) position %= cycle;
  const Index size = likelihoods_->num_states() * emission_.num_channels();
  if (at_phase_.empty()) {
    const std::int64_t most = std::max<std::int64_t>(1, kMostKeptLikelihoods / size);
    at_phase_.resize(static_cast<std::size_t>(cycle > 0 ? std::min(cycle, most) : 1));
  }
  PhaseLikelihoods& own = at_phase_[static_cast<std::size_t>(position) % at_phase_.size()];
  if (!own.likelihoods || own.position != position) {
    own.position = position;
    own.likelihoods = likelihoods_->clone();
    own.likelihoods->set_emission(emission_.at(position));
  }
  return *own.likelihoods;
}

void ExactFilter::restart_at(const Vector& filtered) {
  filtered_ = filtered;
  has_started_ = true;
}

void ExactFilter::exchange(StateArchive& archive) {
  archive(emission_, initial_, predicted_, filtered_, ratio_, has_started_);
  exchange_operator(archive, *transition_, transition_);
  if (!archive.is_reading()) return;
  const bool are_laws = !has_started_ || (is_law(predicted_) && is_law(filtered_));
  archive.expect(is_law(initial_) && are_laws, "invalid probabilities");
  forget_likelihoods();
}

void ExactFilter::predict() {
  if (!has_started_) {
    predicted_ = initial_;
    has_started_ = true;
    return;
  }
  predicted_ = filtered_;
  transition_->push(as_span(predicted_));
}

double ExactFilter::weigh() {
  const auto reachable = predicted_.array() >= kReachable;
  ratio_ = reachable.select(log_likelihood_.array(), kMinusInfinity);
  double shift = ratio_.maxCoeff();
  if (shift == kMinusInfinity) return kMinusInfinity;

  double normaliser = 0;
  const auto weigh_relative_to = [&](double level) {
    ratio_.array() -= level;
    vector_exp(as_span(ratio_), as_span(ratio_));
    filtered_ = predicted_.cwiseProduct(ratio_);
    normaliser = filtered_.sum();
  };
  weigh_relative_to(shift);
  if (normaliser < kSmallestNormaliser) {
    // The best-fitting states were all but ruled out beforehand, so that the product underflows:
    // measure from the largest product instead.
    ratio_ = reachable.select(log_likelihood_.array(), kMinusInfinity);
    shift = kMinusInfinity;
    for (Index x = 0; x < predicted_.size(); ++x) {
      if (predicted_[x] >= kReachable) {
        shift = std::max(shift, log_likelihood_[x] + std::log(predicted_[x]));
      }
    }
    weigh_relative_to(shift);
  }
  const double scale = 1 / normaliser;  // two divisions a state would take longer than the rest
  ratio_ *= scale;
  filtered_ *= scale;
  return shift + std::log(normaliser);
}

FilterStep ExactFilter::step(const Observation& y) {
  assert(y.num_channels() == emission_.num_channels());
  predict();
  likelihoods_at(y.position()).log_likelihoods(y, log_likelihood_);
  const double log_normaliser = weigh();
  if (log_normaliser == kMinusInfinity) {
    filtered_ = predicted_;
    ratio_.setOnes();
    return {kMinusInfinity, true, {}};
  }
  return {log_normaliser + emission_.log_base_measure(y), false, {}};
}

}  // namespace headwater
