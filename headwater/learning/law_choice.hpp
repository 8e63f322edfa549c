#pragma once

#include <functional>
#include <memory>

#include "headwater/engines/engine.hpp"
#include "headwater/learning/estimate.hpp"
#include "headwater/observation.hpp"
#include "headwater/reports.hpp"

namespace headwater {

// Fits an estimate with this law to the first so many observations.
using FitLaw = std::function<Estimate(const AnyLaw& law, Index observations)>;
using MakeFilter = std::function<std::unique_ptr<Engine>(const Estimate& estimate)>;

// Fits two laws of the counts to the first two thirds of the observations and lets them predict the
// rest. The second one is chosen if it predicts better by more than three standard errors: it has
// more parameters, and a small dispersion also makes up for a basis that is not quite right. With
// two standard errors 6 of 40 Poisson streams were given the negative binomial law.
StartReport::LawChoice compare_laws(const AnyLaw& first, const AnyLaw& second,
                                    const RecordView& observations, const FitLaw& fit,
                                    const MakeFilter& filter);

}  // namespace headwater
