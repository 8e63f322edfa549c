#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headwater/learning/law_choice.hpp"
#include "headwater/model.hpp"

namespace headwater {

// What makes a fit doubtful: each a line that says what was found and what to do about it. Empty
// if there is nothing to say.
//
// over_earlier: how much better the fit predicts than the model that it went on from, if there was
// one.
std::vector<std::string> quality_notes(const Model& model,
                                       const std::optional<Gain>& over_earlier = {});

// others: the models of fits of the same stream with other seeds. A component has been found by one
// of them if the column that it is paired with has a cosine of kFoundAgain or more.
Stability stability_of(const Model& model, std::span<const Model> others);

}  // namespace headwater
