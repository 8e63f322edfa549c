#pragma once

#include <memory>

#include "headwater/engines/filter_engine.hpp"
#include "headwater/filters/particle_filter.hpp"
#include "headwater/smoothers/backward_kernel.hpp"
#include "headwater/smoothers/window.hpp"

namespace headwater {

struct ParticleEngineOptions {
  enum class Smoother {
    kNone,           // filter only
    kLag,            // genealogies, a few observations back
    kPath,           // genealogies, back to the first observation
    kPathAsPrinted,  // ... with the statistics as Algorithm 1 prints them
    kParis,          // a few backward draws
    kForward,        // all backward weights: the square of the number of particles
  };
  ParticleFilterOptions filter;
  Smoother smoother = Smoother::kLag;
  BackwardDraw backward_draw = BackwardDraw::kMcmc;
  Index num_backward_draws = 2;
  WindowOptions window;     // lag 0: the smoother's own
  bool learn_prior = true;  // whether the prior's statistics are wanted
};

// What a smoother takes for its lag unless told otherwise.
Index default_lag(ParticleEngineOptions::Smoother smoother);

// Throws UsageError if the prior lacks what the smoother needs: a transition density, or a bound.
void check_smoother(const AnyPrior& prior, const ParticleEngineOptions& options);

std::unique_ptr<BackwardKernel> make_kernel(const ParticleEngineOptions& options);

// The E-step by sequential Monte Carlo, for every prior that can be simulated.
class ParticleEngine final : public FilterEngine<ParticleFilter> {
 public:
  ParticleEngine(const AnyPrior& prior, const Emission& emission,
                 const ParticleEngineOptions& options, std::shared_ptr<const ThreadPool> pool);

  std::unique_ptr<Engine> clone() const override { return std::make_unique<ParticleEngine>(*this); }
  void set_prior(const AnyPrior& prior) override { filter_.set_prior(prior); }
  Vector predicted_activation() const override { return filter_.predicted_activation(); }
  Vector filtered_activation() const override { return filter_.filtered_activation(); }
  void sample_predicted(Generator& generator, Matrix& out) const override;
  void write_prediction(PredictedActivations& out) const override;
};

}  // namespace headwater
