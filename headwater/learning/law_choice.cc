#include "headwater/learning/law_choice.hpp"

#include <cmath>

namespace headwater {

namespace {

// By which a dispersed law must predict better than the Poisson law, which is to be kept where it
// holds; and drifting levels better than a negative binomial law, where a wrong choice costs
// little.
constexpr double kToLeavePoisson = 3;
constexpr double kBetweenDispersed = 1;
constexpr double kImpossible = -1e6;  // log-probability of what cannot be

}  // namespace

Index fitted_part(Index observations) { return 2 * observations / 3; }

Vector held_out_predictions(Engine& engine, const RecordView& observations, Index fitted) {
  Vector logarithms(observations.size());
  for (Index t = 0; t < observations.size(); ++t) {
    const FilterStep step = engine.step(observations[t], 0);
    logarithms[t] = step.impossible ? kImpossible : step.log_predictive;
  }
  return logarithms.tail(observations.size() - fitted);
}

Gain gain_of(const Vector& predictions, const Vector& others) {
  const Vector gains = predictions - others;
  const auto n = static_cast<double>(gains.size());
  const double mean = gains.mean();
  return {mean, std::sqrt((gains.array() - mean).square().sum() / (n * (n - 1)))};
}

AnyLaw with_parameters_of(const AnyLaw& other, AnyLaw law) {
  const Parameters own = law.parameters();
  for (const Parameter& parameter : other.parameters()) {
    if (find_parameter(own, parameter.name) != nullptr) law.set_parameter(parameter);
  }
  return law;
}

StartReport::LawChoice compare_laws(const AnyLaw& first, const AnyLaw& second,
                                    const RecordView& observations, const FitLaw& fit,
                                    const MakeFilter& filter) {
  const Index fitted = fitted_part(observations.size());
  const auto held_out = [&](const AnyLaw& law) {
    return held_out_predictions(*filter(fit(law, fitted)), observations, fitted);
  };
  const Gain gain = gain_of(held_out(second), held_out(first));
  const double needed = first->has_plain_losses() ? kToLeavePoisson : kBetweenDispersed;
  const bool is_better = gain.mean > needed * gain.standard_error;
  return {(is_better ? second : first)->name(), second->name(), gain.mean, gain.standard_error};
}

}  // namespace headwater
