#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "headwater/matrix.hpp"

namespace headwater {

// A named parameter of a prior: 1x1 if all components share it, Kx1 if each component has its own,
// or a matrix if the parameter is a table.
struct Parameter {
  std::string name;
  Matrix value;
};

using Parameters = std::vector<Parameter>;

inline Parameter scalar_parameter(std::string name, double value) {
  return {std::move(name), Matrix::Constant(1, 1, value)};
}

// Null if there is no parameter of that name.
inline const Parameter* find_parameter(const Parameters& parameters, std::string_view name) {
  for (const Parameter& parameter : parameters) {
    if (parameter.name == name) return &parameter;
  }
  return nullptr;
}

// What an M-step must not change: parameters by name, and the scale of the activations.
struct Held {
  std::vector<std::string> parameters;
  bool scale = true;

  bool holds(std::string_view parameter) const {
    return std::ranges::find(parameters, parameter) != parameters.end();
  }
};

}  // namespace headwater
