#pragma once

#include <functional>

#include "headwater/learning/law_choice.hpp"
#include "headwater/m_step_options.hpp"

namespace headwater {

// The log-predictions, with this expected of the basis, of observations that were held out.
using PredictExpecting = std::function<Vector(const BasisExpectation& expectation)>;

// The smallest number of counts that an expectation is worth, and the one that it is worth where
// predictions tell nothing.
inline constexpr double kLeastExpectation = 0.3;
inline constexpr double kUsualExpectation = 3;

struct ExpectationChoice {
  BasisExpectation expectation;  // with the number of counts that was chosen
  StartReport::BasisPrior report;
};

// How many counts an expectation of the basis is to be worth: the number with which the
// observations that were held out are predicted best. Numbers are tried from small to large as
// long as predictions improve. The usual one is taken unless another one predicts better, by more
// than one standard error and five nats in all.
ExpectationChoice choose_expectation(const BasisExpectation& expectation,
                                     const PredictExpecting& predict, SearchTasks& tasks);

}  // namespace headwater
