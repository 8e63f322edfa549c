#include "headwater/models/basis_selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "headwater/core/error.hpp"

namespace headwater {

namespace {

void check_probabilities(const Vector& values, const char* name, Index num_components) {
  if (values.size() != 1 && values.size() != num_components) {
    throw UsageError(fmt::format("{} has {} values; expected 1, or {} (one for each component)",
                                 name, values.size(), num_components));
  }
  for (const double value : values) {
    if (!(value > 0 && value < 1)) {
      throw UsageError(fmt::format("{} is {}; expected a probability inside (0, 1)", name, value));
    }
  }
}

// A chain that was never seen to leave a state still can: a probability of exactly 0 or 1 would
// never be left again, and has no stationary law when both are 1.
double inside_unit_interval(double value) {
  return std::clamp(value, std::numeric_limits<double>::min(),
                    1 - std::numeric_limits<double>::epsilon() / 2);
}

double shared_or_own(const Vector& values, Index k) { return values[values.size() == 1 ? 0 : k]; }

}  // namespace

BasisSelection::BasisSelection(Index num_components, double stay_off, double stay_on)
    : BasisSelection(num_components, Vector::Constant(1, stay_off), Vector::Constant(1, stay_on)) {}

BasisSelection::BasisSelection(Index num_components, Vector stay_off, Vector stay_on)
    : num_components_(num_components),
      stay_off_(std::move(stay_off)),
      stay_on_(std::move(stay_on)) {
  check_probabilities(stay_off_, "stay_off", num_components_);
  check_probabilities(stay_on_, "stay_on", num_components_);
}

FiniteChain BasisSelection::finite_chain() const {
  FiniteChain chain;
  for (Index k = 0; k < num_components_; ++k) {
    const double p = shared_or_own(stay_off_, k);
    const double q = shared_or_own(stay_on_, k);
    FiniteAxis axis;
    axis.states.resize(2, 1);
    axis.states << 0, 1;
    axis.transition.resize(2, 2);
    axis.transition << p, 1 - p, 1 - q, q;
    axis.initial.resize(2);
    const double leaving = (1 - p) + (1 - q);  // 2 - p - q would lose the digits near 1
    axis.initial << (1 - q) / leaving, (1 - p) / leaving;
    chain.axes.push_back(std::move(axis));
  }
  return chain;
}

Parameters BasisSelection::parameters() const {
  return {{"stay_off", stay_off_}, {"stay_on", stay_on_}};
}

void BasisSelection::set_parameter(const Parameter& parameter) {
  const Vector values = parameter.value.reshaped();
  if (parameter.name == "stay_off") {
    check_probabilities(values, "stay_off", num_components_);
    stay_off_ = values;
  } else if (parameter.name == "stay_on") {
    check_probabilities(values, "stay_on", num_components_);
    stay_on_ = values;
  } else {
    throw UsageError(
        fmt::format("prior 'basis-selection' has no parameter '{}'; it has stay_off and stay_on",
                    parameter.name));
  }
}

void BasisSelection::maximise(std::span<const double> moves) {
  const auto stay_probability = [&](Index from, Vector& stay) {
    for (Index j = 0; j < stay.size(); ++j) {
      const Index first = stay.size() == 1 ? 0 : j;
      const Index last = stay.size() == 1 ? num_components_ : j + 1;
      double stayed = 0;
      double left = 0;
      for (Index k = first; k < last; ++k) {
        const double* n = &moves[4 * k];  // n00, n01, n10, n11
        stayed += n[3 * from];
        left += n[1 + from];
      }
      if (stayed + left > 0) stay[j] = inside_unit_interval(stayed / (stayed + left));
    }
  };
  stay_probability(0, stay_off_);
  stay_probability(1, stay_on_);
}

}  // namespace headwater
