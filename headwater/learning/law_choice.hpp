#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "headwater/engines/engine.hpp"
#include "headwater/learning/estimate.hpp"
#include "headwater/learning/search_tasks.hpp"
#include "headwater/m_step_options.hpp"
#include "headwater/observation.hpp"
#include "headwater/reports.hpp"
#include "headwater/step_size.hpp"

namespace headwater {

// The log-predictions, under this law, of observations that were held out.
using PredictUnder = std::function<Vector(const AnyLaw& law)>;

// Of this many observations, so many are fitted to; the others are to be predicted.
Index fitted_part(Index observations);
// log p(y_t | y_1 .. y_{t-1}) of each observation after the fitted ones; kImpossible for one that
// cannot be.
inline constexpr double kImpossible = -1e6;
Vector held_out_predictions(Engine& engine, const RecordView& observations, Index fitted);
// The same of a fit that goes on learning in such steps: from a start that was fitted to the first
// `known` observations, and with M-steps after these.
Vector predictions_while_learning(std::unique_ptr<Engine> engine, Estimate start,
                                  const RecordView& observations, Index known, Index fitted,
                                  const StepSize& steps, const MStepOptions& options,
                                  const std::function<void()>& tell);

// How much better one series of predictions is than another.
struct Gain {
  double mean = 0;
  double standard_error = 0;
};
Gain gain_of(const Vector& predictions, const Vector& others);

bool has_hurdle(const AnyLaw& law);
// The one whose levels drift, which includes all others but those with a hurdle; without it the
// last one.
const AnyLaw& widest_law(const std::vector<AnyLaw>& laws);

// Whether counts scatter so little that no law of Poisson counts with random means can have given
// them, whether these means persist or not: with lambda for the mean, y (y - 1) has the expectation
// E[lambda^2], and the product of a count and the next one E[lambda lambda'], which is not larger.
// Sums over all channels and observations say so, by more than two standard errors. The question
// costs little beside a comparison.
bool are_narrow(const RecordView& observations);

// Whether the counts of these observations would show a dispersion if there was one: a dispersion
// of 1 would be three standard errors away from 0. Where all is quiet, every law predicts the same.
bool can_tell_laws(const RecordView& held_out);

// Lets two laws of the counts predict what was held out. The second one is chosen if it predicts
// better: in place of a law without dispersion by more than three standard errors (two, if the gain
// is above .03 nats a cell; one, if observations are few and decisive), and by three nats in all,
// since it has more parameters, and a small dispersion also makes up for a basis that is not quite
// right; by as much if only one of the two has a hurdle; in place of another dispersed law by more
// than one. Gains that are tempered may say it as well as gains as they are; an observation has so
// many cells.
StartReport::LawChoice compare_laws(const AnyLaw& first, const AnyLaw& second, Index cells,
                                    const PredictUnder& predict, SearchTasks& tasks);

// Beyond one nat a cell, gains grow as their logarithm. Where one of two laws misses all counts,
// the gains of a few observations differ by orders of magnitude. The standard error of their mean
// is then as large as the mean, although every one of them says the same.
Vector tempered_gains(const Vector& gains, Index cells);
double tempered_gain(double gain, Index cells);

// The law with those parameters that the other one has too.
AnyLaw with_parameters_of(const AnyLaw& other, AnyLaw law);

}  // namespace headwater
