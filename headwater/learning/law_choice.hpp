#pragma once

#include <functional>
#include <memory>

#include "headwater/engines/engine.hpp"
#include "headwater/learning/estimate.hpp"
#include "headwater/learning/search_tasks.hpp"
#include "headwater/observation.hpp"
#include "headwater/reports.hpp"

namespace headwater {

// Fits an estimate with this law to the first so many observations.
using FitLaw = std::function<Estimate(const AnyLaw& law, Index observations)>;
using MakeFilter = std::function<std::unique_ptr<Engine>(const Estimate& estimate)>;

// Of this many observations, so many are fitted to; the others are to be predicted.
Index fitted_part(Index observations);
// log p(y_t | y_1 .. y_{t-1}) of each observation after the fitted ones; kImpossible for one that
// cannot be.
inline constexpr double kImpossible = -1e6;
Vector held_out_predictions(Engine& engine, const RecordView& observations, Index fitted);

// How much better one series of predictions is than another.
struct Gain {
  double mean = 0;
  double standard_error = 0;
};
Gain gain_of(const Vector& predictions, const Vector& others);

// Whether counts scatter so little that no law of Poisson counts with random means can have given
// them, whether these means persist or not: with lambda for the mean, y (y - 1) has the expectation
// E[lambda^2], and the product of a count and the next one E[lambda lambda'], which is not larger.
// Sums over all channels and observations say so, by more than two standard errors. The question
// costs little beside a comparison.
bool are_narrow(const RecordView& observations);

// Fits two laws of the counts to the first two thirds of the observations and lets them predict the
// rest. The second one is chosen if it predicts better: in place of a law without dispersion by
// more than three standard errors, since it has more parameters, and a small dispersion also makes
// up for a basis that is not quite right; by as much if only one of the two has a hurdle; in place
// of another dispersed law by more than one.
StartReport::LawChoice compare_laws(const AnyLaw& first, const AnyLaw& second,
                                    const RecordView& observations, const FitLaw& fit,
                                    const MakeFilter& filter, SearchTasks& tasks);

// The law with those parameters that the other one has too.
AnyLaw with_parameters_of(const AnyLaw& other, AnyLaw law);

}  // namespace headwater
