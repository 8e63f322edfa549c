#pragma once

#include <memory>

#include "headwater/emission.hpp"
#include "headwater/finite_chain.hpp"
#include "headwater/kernels/kronecker.hpp"
#include "headwater/reports.hpp"

namespace headwater {

// The law of the activations given the observations so far, on every joint state of a finite
// chain. An always-on background component, if wanted, is a last column of the basis.
class ExactFilter {
 public:
  // The emission has K columns, or K + 1 when the chain has K components and there is a background.
  ExactFilter(const FiniteChain& chain, const Emission& emission);

  // Parameters for the steps to come; the law so far stays.
  void set_chain(const FiniteChain& chain);
  void set_basis(const Matrix& basis);
  void set_law(const AnyLaw& law);
  void set_season(const Season& season);

  FilterStep step(const Observation& y);

  const Vector& initial() const { return initial_; }      // p(x_1)
  const Vector& predicted() const { return predicted_; }  // p(x_t | y_1..t-1)
  const Vector& filtered() const { return filtered_; }    // p(x_t | y_1..t)
  // g(y_t | x) / p(y_t | y_1..t-1), so that filtered = predicted * ratio, entry by entry. Zero for
  // states that could not be reached; one everywhere after an impossible observation.
  const Vector& ratio() const { return ratio_; }

  const Matrix& states() const { return likelihoods_->states(); }
  const Emission& emission() const { return emission_; }
  const Matrix& basis() const { return emission_.basis(); }
  // Shared: windows of past steps hold on to the operator that each step was made with.
  const std::shared_ptr<const KroneckerOperator>& transition() const { return transition_; }

  void exchange(StateArchive& archive);

  bool has_started() const { return has_started_; }
  // Starts over: from the stationary law, or as if the step that led to a stored law had just been
  // made.
  void restart() { has_started_ = false; }
  void pass_over() {}  // it has no random numbers
  void restart_at(const Vector& filtered);

 private:
  void predict();
  void forget_likelihoods();
  StateLikelihoods& likelihoods_at(std::int64_t position);
  double weigh();  // log of the normaliser, -infinity if every state is impossible

  Emission emission_;
  ClonePointer<StateLikelihoods> likelihoods_;
  struct PhaseLikelihoods {
    std::int64_t position = 0;
    ClonePointer<StateLikelihoods> likelihoods = {};
  };
  std::vector<PhaseLikelihoods> at_phase_;  // under a season
  std::shared_ptr<const KroneckerOperator> transition_;
  Vector initial_;
  Vector log_likelihood_;
  Vector predicted_;
  Vector filtered_;
  Vector ratio_;
  bool has_started_ = false;
};

// The chain's joint states with, for a basis with one column more, a background that is always on.
Matrix states_with_background(const FiniteChain& chain, Index num_columns);

}  // namespace headwater
