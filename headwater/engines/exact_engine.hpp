#pragma once

#include <memory>

#include "headwater/engines/filter_engine.hpp"
#include "headwater/filters/exact_filter.hpp"
#include "headwater/smoothers/adjoint_window.hpp"

namespace headwater {

// The largest joint state space that the exact engine takes on: 14 components that are off or on.
inline constexpr Index kLargestExactStateSpace = Index{1} << 14;

struct ExactEngineOptions {
  enum class Smoother {
    kNone,              // filter only
    kWindow,            // AdjointWindow
    kForward,           // ForwardRecursion
    kForwardAsPrinted,  // ... with the second statistic as Algorithm 1 prints it
  };
  Smoother smoother = Smoother::kWindow;
  WindowOptions window;
  bool learn_prior = true;  // whether the prior's statistics are wanted
};

// Whether the prior is finite and has few enough states for this engine.
bool is_in_exact_reach(const AnyPrior& prior);
// Throws UsageError, saying why, if it is not.
void check_exact_reach(const AnyPrior& prior);

// The E-step without approximation, for priors with a finite state space.
class ExactEngine final : public FilterEngine<ExactFilter> {
 public:
  ExactEngine(const AnyPrior& prior, const Emission& emission, const ExactEngineOptions& options);

  std::unique_ptr<Engine> clone() const override { return std::make_unique<ExactEngine>(*this); }
  void set_prior(const AnyPrior& prior) override { filter_.set_chain(prior.finite_chain()); }
  Vector predicted_activation() const override;
  Vector filtered_activation() const override;
  void sample_predicted(Generator& generator, Matrix& out) const override;
  void write_prediction(PredictedActivations& out) const override;
};

}  // namespace headwater
