#pragma once

#include <string>
#include <vector>

#include "headwater/model.hpp"

// Scores of fits with different numbers of components, a line each, for people.
std::string choice_text(const std::vector<headwater::ComponentScore>& table);
// How many restarts have found each component.
std::string stability_text(const headwater::Stability& stability);
// The priors that were compared, and in a last line which was chosen and how clearly.
std::string choice_text(const std::vector<headwater::PriorScore>& table);
