#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headwater/export.hpp"
#include "headwater/learning/law_choice.hpp"
#include "headwater/model.hpp"

namespace headwater {

// What makes a fit doubtful: each a line that says what was found and what to do about it. Empty
// if there is nothing to say.
//
// other_seeds: bases of fits of the same data with other seeds. over_earlier: how much better the
// fit predicts than the model that it went on from, if there was one.
std::vector<std::string> quality_notes(const Model& model, std::span<const Matrix> other_seeds = {},
                                       const std::optional<Gain>& over_earlier = {});

}  // namespace headwater
