#pragma once

#include <memory>
#include <vector>

#include "headwater/engines/engine.hpp"
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

// Throws UsageError if the prior is not finite or has too many states for this engine.
void check_exact_reach(const AnyPrior& prior);

// The E-step without approximation, for priors with a finite state space.
class ExactEngine final : public Engine {
 public:
  ExactEngine(const AnyPrior& prior, const Matrix& basis, const ExactEngineOptions& options);
  ExactEngine(const ExactEngine& other);
  ExactEngine& operator=(const ExactEngine&) = delete;

  std::unique_ptr<Engine> clone() const override { return std::make_unique<ExactEngine>(*this); }
  void set_prior(const AnyPrior& prior) override { filter_.set_chain(prior.finite_chain()); }
  void set_basis(const Matrix& basis) override { filter_.set_basis(basis); }
  FilterStep step(Observation y, double step_size) override;
  void finish() override;
  bool has_new_statistics() const override { return has_new_statistics_; }
  const Statistics& statistics() const override;
  Vector predicted_activation() const override;
  Vector filtered_activation() const override;

  const ExactFilter& filter() const { return filter_; }

 private:
  ExactFilter filter_;
  std::unique_ptr<ExactSmoother> smoother_;  // null for a filter only
  std::vector<double> nothing_seen_;
  bool has_new_statistics_ = false;
};

}  // namespace headwater
