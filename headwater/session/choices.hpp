#pragma once

#include <optional>
#include <string>
#include <vector>

#include "headwater/config.hpp"

// The names that values of options go by, in the shell, in Python and in model files. Each pair of
// a name and a value stands here and nowhere else; to_string() reads it here.

namespace headwater {

template <class Value>
struct Choice {
  std::string name;
  Value value;
};
template <class Value>
using Choices = std::vector<Choice<Value>>;

const Choices<Method>& method_choices();
const Choices<Init>& init_choices();
const Choices<Outliers>& outlier_choices();
const Choices<std::string>& law_choices();  // auto, and every law of law_table()
const Choices<DispersionOf>& dispersion_choices();
const Choices<Average>& average_choices();
const Choices<EngineKind>& engine_choices();
const Choices<ProposalKind>& proposal_choices();
const Choices<Resampling>& resampling_choices();
const Choices<SmootherKind>& smoother_choices();
const Choices<BackwardDraw>& backward_choices();
const Choices<Scale>& scale_choices();

// Empty if the value is none of the choices.
template <class Value>
std::string name_of(const Value& value, const Choices<Value>& choices) {
  for (const Choice<Value>& choice : choices) {
    if (choice.value == value) return choice.name;
  }
  return "";
}

template <class Value>
std::optional<Value> value_of(const std::string& name, const Choices<Value>& choices) {
  for (const Choice<Value>& choice : choices) {
    if (choice.name == name) return choice.value;
  }
  return std::nullopt;
}

template <class Value>
std::vector<std::string> names_of(const Choices<Value>& choices) {
  std::vector<std::string> names;
  for (const Choice<Value>& choice : choices) names.push_back(choice.name);
  return names;
}

}  // namespace headwater
