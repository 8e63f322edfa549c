#include "headwater/learning/law_choice.hpp"

#include <cmath>

namespace headwater {

namespace {

constexpr double kStandardErrors = 3;
constexpr double kImpossible = -1e6;  // log-probability of what cannot be

// log p(y_t | y_1 .. y_{t-1}) of each observation.
Vector predictions(Engine& engine, const RecordView& observations) {
  Vector logarithms(observations.size());
  for (Index t = 0; t < observations.size(); ++t) {
    const FilterStep step = engine.step(observations[t], 0);
    logarithms[t] = step.impossible ? kImpossible : step.log_predictive;
  }
  return logarithms;
}

}  // namespace

StartReport::LawChoice compare_laws(const AnyLaw& first, const AnyLaw& second,
                                    const RecordView& observations, const FitLaw& fit,
                                    const MakeFilter& filter) {
  const Index fitted = 2 * observations.size() / 3;
  const auto held_out = [&](const AnyLaw& law) -> Vector {
    const std::unique_ptr<Engine> engine = filter(fit(law, fitted));
    return predictions(*engine, observations).tail(observations.size() - fitted);
  };
  const Vector gains = held_out(second) - held_out(first);
  const auto n = static_cast<double>(gains.size());
  const double gain = gains.mean();
  const double error = std::sqrt((gains.array() - gain).square().sum() / (n * (n - 1)));
  const bool is_better = gain > kStandardErrors * error;
  return {(is_better ? second : first)->name(), (is_better ? first : second)->name(), gain, error};
}

}  // namespace headwater
