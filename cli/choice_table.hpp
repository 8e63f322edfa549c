#pragma once

#include <string>
#include <vector>

#include "headwater/model.hpp"

// Scores of fits with different numbers of components, a line each, for people.
std::string choice_text(const std::vector<headwater::ComponentScore>& table);
