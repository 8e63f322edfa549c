#pragma once

#include <memory>

#include "headwater/engines/filter_engine.hpp"
#include "headwater/filters/beam_filter.hpp"
#include "headwater/observation.hpp"
#include "headwater/smoothers/window.hpp"

namespace headwater {

// What the window of a beam looks ahead at most, unless it is told a lag: a backward step costs the
// square of the width.
inline constexpr Index kLongestBeamLag = 20;

struct BeamEngineOptions {
  BeamOptions filter;
  bool smooths = true;  // false: filter only
  WindowOptions window{.max_lag = kLongestBeamLag};
  bool learn_prior = true;  // whether the prior's statistics are wanted
};

// Whether the prior is finite and its joint states fit 64 bits.
bool is_in_beam_reach(const AnyPrior& prior);
// Throws UsageError, saying why, if it is not.
void check_beam_reach(const AnyPrior& prior);

// The E-step on the few states of a large finite chain that matter.
class BeamEngine final : public FilterEngine<BeamFilter> {
 public:
  BeamEngine(const AnyPrior& prior, const Emission& emission, const BeamEngineOptions& options);

  std::unique_ptr<Engine> clone() const override { return std::make_unique<BeamEngine>(*this); }
  void set_prior(const AnyPrior& prior) override { filter_.set_chain(prior.finite_chain()); }
  Vector predicted_activation() const override { return filter_.predicted_activation(); }
  Vector filtered_activation() const override { return filter_.filtered_activation(); }
  void sample_predicted(Generator& generator, Matrix& out) const override {
    filter_.sample_predicted(generator, out);
  }
  void write_prediction(PredictedActivations& out) const override;
};

// E[x_t | y_1..min(t + lag, T)], T x K, background included, by a filter that has made no step yet;
// the lag is as long as the chain remembers.
Matrix beam_smoothed_activations(BeamFilter& filter, const RecordView& observations);

}  // namespace headwater
