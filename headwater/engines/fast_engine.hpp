#pragma once

#include <memory>

#include "headwater/engines/filter_engine.hpp"
#include "headwater/filters/fast_filter.hpp"
#include "headwater/observation.hpp"
#include "headwater/smoothers/window.hpp"

namespace headwater {

struct FastEngineOptions {
  FastFilterOptions filter;
  bool smooths = true;      // false: filter only
  WindowOptions window;     // its block; there is no lag
  bool learn_prior = true;  // whether the prior's statistics are wanted
};

// Throws UsageError if the prior's components do not move by themselves with affine moments.
void check_fast_reach(const AnyPrior& prior);

// The E-step by a product of simple laws: biased, and some passes over the counts a step.
class FastEngine final : public FilterEngine<FastFilter> {
 public:
  FastEngine(const AnyPrior& prior, const Emission& emission, const FastEngineOptions& options);

  std::unique_ptr<Engine> clone() const override { return std::make_unique<FastEngine>(*this); }
  void set_prior(const AnyPrior& prior) override { filter_.set_prior(prior); }
  Vector predicted_activation() const override { return filter_.activation(filter_.predicted()); }
  Vector filtered_activation() const override { return filter_.activation(filter_.filtered()); }
  void sample_predicted(Generator& generator, Matrix& out) const override {
    filter_.sample_predicted(generator, out);
  }
  void write_prediction(PredictedActivations& out) const override;
};

// E[x_t | y_1..T], T x K, background included, by a filter that has made no step yet: its laws,
// carried back along the lines that predict best [RauchTungStriebel1965].
Matrix fast_smoothed_activations(FastFilter& filter, const RecordView& observations);

}  // namespace headwater
