#include "headwater/learning/law_choice.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "headwater/emission/levels.hpp"
#include "headwater/learning/channel_totals.hpp"
#include "headwater/learning/online_em.hpp"

namespace headwater {

namespace {

// By which a dispersed law must predict better than one without dispersion, which is to be kept
// where it holds, and a hurdle law better than one without; and drifting levels better than a
// negative binomial law, where a wrong choice costs little.
constexpr double kToLeaveNarrow = 3;
// Where the gain is as large as this, in nats a cell, fewer standard errors will do: a basis that
// is not quite right does not cost the narrow law so much. A few observations cannot say more, and
// without a law that is wide enough single ones may cost hundreds of times that.
constexpr double kLargeGain = 0.03;
constexpr double kToLeaveNarrowByMuch = 2;
// A few observations do not tell a standard error well. A gain of one standard error will do if the
// observations are e^5 times as probable under the law, without the one that says so most.
constexpr Index kFewObservations = 50;
constexpr double kDecisiveGain = 5;
constexpr double kBetweenDispersed = 1;
// And by so many nats in all to leave a narrow law. Where dispersions are found to be as good as 0,
// gains are tiny and all alike, so that a tiny mean may be many standard errors.
constexpr double kEvidence = 3;
// By so many standard errors counts scatter less than Poisson counts could.
constexpr double kClearlyNarrow = 2;
// What is asked of the information on a dispersion of 0, one over its squared standard error.
constexpr double kTellingInformation = 9;
constexpr Index kTellAfter = 16;  // observations

// The count of each channel at exposure 1; NaN where it is missing.
void write_rates(const Observation& y, Vector& out) {
  out.setConstant(y.num_channels(), std::numeric_limits<double>::quiet_NaN());
  for_each_seen(y, [&](Index m, double count, double exposure) { out[m] = count / exposure; });
}

}  // namespace

bool has_hurdle(const AnyLaw& law) { return law->variance(0).has_hurdle(); }

const AnyLaw& widest_law(const std::vector<AnyLaw>& laws) {
  const auto drifting = std::ranges::find_if(laws, drifts);
  return drifting == laws.end() ? laws.back() : *drifting;
}

bool are_narrow(const RecordView& observations) {
  double sum = 0;
  double squares = 0;
  Vector before;
  Vector now;
  for (Index t = 0; t < observations.size(); ++t) {
    const bool goes_on = t > 0 && !observations[t].begins_sequence();
    before.swap(now);
    write_rates(observations[t], now);
    if (!goes_on) continue;
    double excess = 0;
    for_each_count(observations[t], [&](std::size_t j, double exposure) {
      const Index m = observations[t].channels()[j];
      const double count = observations[t].counts()[j];
      if (std::isnan(before[m])) return;
      excess += count / exposure * ((count - 1) / exposure - before[m]);
    });
    sum += excess;
    squares += excess * excess;
  }
  return sum < -kClearlyNarrow * std::sqrt(squares);
}

// A count of the mean e mu has the information (e mu)^2 / 2. The square of mu is estimated without
// bias from a channel's c counts in an exposure of E = sum e, as c (c - 1) / E^2.
bool can_tell_laws(const RecordView& held_out) {
  const ChannelTotals totals = totals_of(held_out);
  double information = 0;
  for (Index m = 0; m < totals.counts.size(); ++m) {
    const double count = totals.counts[m];
    const double exposure = totals.exposures[m];
    if (!(count > 1 && exposure > 0)) continue;
    information += count * (count - 1) * totals.squared_exposures[m] / (2 * exposure * exposure);
  }
  return information >= kTellingInformation;
}

Index fitted_part(Index observations) { return 2 * observations / 3; }

Vector held_out_predictions(Engine& engine, const RecordView& observations, Index fitted) {
  Vector logarithms(observations.size());
  for (Index t = 0; t < observations.size(); ++t) {
    const FilterStep step = engine.step(observations[t], 0);
    logarithms[t] = step.impossible ? kImpossible : step.log_predictive;
  }
  return logarithms.tail(observations.size() - fitted);
}

Vector predictions_while_learning(std::unique_ptr<Engine> engine, Estimate start,
                                  const RecordView& observations, Index known, Index fitted,
                                  const StepSize& steps, const MStepOptions& options,
                                  const std::function<void()>& tell) {
  OnlineEmOptions online;
  online.step_size = steps;
  online.burn_in = known;
  online.average = false;
  online.lengthen_steps = false;
  online.revive_after = 0;
  online.m_step = options;
  OnlineEm learner(std::move(engine), std::move(start), online);
  Vector logarithms(observations.size());
  for (Index t = 0; t < observations.size(); ++t) {
    const FilterStep step = learner.update(observations[t]).filter;
    logarithms[t] = step.impossible ? kImpossible : step.log_predictive;
    if (t % kTellAfter == kTellAfter - 1) tell();
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

double tempered_gain(double gain, Index cells) {
  const auto linear = static_cast<double>(cells);  // one nat a cell
  const double size = std::abs(gain);
  if (!(size > linear)) return gain;
  return std::copysign(linear * (1 + std::log(size / linear)), gain);
}

Vector tempered_gains(const Vector& gains, Index cells) {
  return gains.unaryExpr([&](double gain) { return tempered_gain(gain, cells); });
}

StartReport::LawChoice compare_laws(const AnyLaw& first, const AnyLaw& second, Index cells,
                                    const PredictUnder& predict, SearchTasks& tasks) {
  const std::array<const AnyLaw*, 2> laws = {&first, &second};
  std::array<Vector, 2> held_out;
  tasks.run(2, [&](Index i) {
    const auto own = static_cast<std::size_t>(i);
    held_out[own] = predict(*laws[own]);
  });
  const Gain gain = gain_of(held_out[1], held_out[0]);
  const Vector gains = held_out[1] - held_out[0];
  const Vector tempered = tempered_gains(gains, cells);
  const Gain evidence = gain_of(tempered, Vector::Zero(tempered.size()));
  const bool are_close = !first->has_plain_losses() && has_hurdle(first) == has_hurdle(second);
  const bool is_large = gain.mean > kLargeGain * static_cast<double>(cells);
  const bool is_decisive =
      gains.size() < kFewObservations && gains.sum() - gains.maxCoeff() > kDecisiveGain;
  const double needed = are_close || is_decisive ? kBetweenDispersed
                        : is_large               ? kToLeaveNarrowByMuch
                                                 : kToLeaveNarrow;
  const bool is_evident = are_close || gains.sum() > kEvidence;
  const bool is_clear =
      gain.mean > needed * gain.standard_error || evidence.mean > needed * evidence.standard_error;
  const bool is_better = is_evident && gain.mean > 0 && is_clear;
  return {(is_better ? second : first)->name(), second->name(), gain.mean, gain.standard_error};
}

}  // namespace headwater
