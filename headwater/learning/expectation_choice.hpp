#pragma once

#include <functional>

#include "headwater/learning/law_choice.hpp"
#include "headwater/m_step_options.hpp"

namespace headwater {

// Fits an estimate to the first so many observations, with this expected of the basis.
using FitExpecting =
    std::function<Estimate(const BasisExpectation& expectation, Index observations)>;

struct ExpectationChoice {
  BasisExpectation expectation;  // with the number of counts that was chosen; 0: none
  StartReport::BasisPrior report;
};

// How many counts an expectation of the basis is to be worth: the number with which a fit to the
// first two thirds of the observations predicts the rest best. Numbers are tried from small to
// large as long as predictions improve. Nothing is expected unless that predicts better, by more
// than one standard error, than a fit that expects nothing.
ExpectationChoice choose_expectation(const BasisExpectation& expectation,
                                     const RecordView& observations, const FitExpecting& fit,
                                     const MakeFilter& filter, SearchTasks& tasks);

}  // namespace headwater
