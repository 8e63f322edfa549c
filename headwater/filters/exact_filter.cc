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
  likelihoods_->set_emission(emission_);
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
  likelihoods_->set_emission(emission_);
}

void ExactFilter::set_law(const AnyLaw& law) {
  emission_.set_law(law);
  likelihoods_->set_emission(emission_);
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
  archive.expect(is_law(initial_) && are_laws, "probabilities that are none");
  likelihoods_->set_emission(emission_);
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
  const Index n = predicted_.size();
  double shift = kMinusInfinity;
  for (Index x = 0; x < n; ++x) {
    if (predicted_[x] >= kReachable) shift = std::max(shift, log_likelihood_[x]);
  }
  if (shift == kMinusInfinity) return kMinusInfinity;

  double normaliser = 0;
  const auto weigh_relative_to = [&](double level) {
    for (Index x = 0; x < n; ++x) {
      ratio_[x] = predicted_[x] >= kReachable ? log_likelihood_[x] - level : kMinusInfinity;
    }
    vector_exp(as_span(ratio_), as_span(ratio_));
    filtered_ = predicted_.cwiseProduct(ratio_);
    normaliser = filtered_.sum();
  };
  weigh_relative_to(shift);
  if (normaliser < kSmallestNormaliser) {
    // The best-fitting states were all but ruled out beforehand, so that the product underflows:
    // measure from the largest product instead.
    shift = kMinusInfinity;
    for (Index x = 0; x < n; ++x) {
      if (predicted_[x] >= kReachable) {
        shift = std::max(shift, log_likelihood_[x] + std::log(predicted_[x]));
      }
    }
    weigh_relative_to(shift);
  }
  ratio_ /= normaliser;
  filtered_ /= normaliser;
  return shift + std::log(normaliser);
}

FilterStep ExactFilter::step(const Observation& y) {
  assert(y.num_channels() == emission_.num_channels());
  predict();
  likelihoods_->log_likelihoods(y, log_likelihood_);
  const double log_normaliser = weigh();
  if (log_normaliser == kMinusInfinity) {
    filtered_ = predicted_;
    ratio_.setOnes();
    return {kMinusInfinity, true, {}};
  }
  return {log_normaliser + emission_.log_base_measure(y), false, {}};
}

}  // namespace headwater
