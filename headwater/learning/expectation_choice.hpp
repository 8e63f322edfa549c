#pragma once

#include <functional>

#include "headwater/learning/law_choice.hpp"
#include "headwater/m_step_options.hpp"

namespace headwater {

// The log-predictions, with this expected of the basis, of observations that were held out.
using PredictExpecting = std::function<Vector(const BasisExpectation& expectation)>;

struct ExpectationChoice {
  BasisExpectation expectation;  // with the number of counts that was chosen; 0: none
  StartReport::BasisPrior report;
};

// How many counts an expectation of the basis is to be worth: the number with which the
// observations that were held out are predicted best. Numbers are tried from small to large as
// long as predictions improve. Nothing is expected unless that predicts better, by more than one
// standard error, than a fit that expects nothing.
ExpectationChoice choose_expectation(const BasisExpectation& expectation,
                                     const PredictExpecting& predict, SearchTasks& tasks);

}  // namespace headwater
