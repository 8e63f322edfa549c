#include "headwater/models/basis_selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "headwater/error.hpp"

namespace headwater {

namespace {

SharedOrOwn probability(const char* name, Vector values, Index num_components) {
  return {name, std::move(values), num_components, 0, 1};
}

// Keeps a probability strictly inside (0, 1). A probability of exactly 0 or 1 would never change
// again in EM, and if both are 1 there is no unique stationary distribution.
double inside_unit_interval(double value) {
  return std::clamp(value, std::numeric_limits<double>::min(),
                    1 - std::numeric_limits<double>::epsilon() / 2);
}

}  // namespace

BasisSelection::BasisSelection(Index num_components, double stay_off, double stay_on)
    : BasisSelection(num_components, Vector::Constant(1, stay_off), Vector::Constant(1, stay_on)) {}

BasisSelection::BasisSelection(Index num_components, Vector stay_off, Vector stay_on)
    : num_components_(num_components),
      stay_off_(probability("stay_off", std::move(stay_off), num_components)),
      stay_on_(probability("stay_on", std::move(stay_on), num_components)) {}

FiniteChain BasisSelection::finite_chain() const {
  FiniteChain chain;
  for (Index k = 0; k < num_components_; ++k) {
    const double p = stay_off_[k];
    const double q = stay_on_[k];
    FiniteAxis axis;
    axis.states.resize(2, 1);
    axis.states << 0, 1;
    axis.transition.resize(2, 2);
    axis.transition << p, 1 - p, 1 - q, q;
    axis.initial.resize(2);
    const double leaving = (1 - p) + (1 - q);  // 2 - p - q would lose digits near 1
    axis.initial << (1 - q) / leaving, (1 - p) / leaving;
    chain.axes.push_back(std::move(axis));
  }
  return chain;
}

Parameters BasisSelection::parameters() const {
  return {{"stay_off", stay_off_.values()}, {"stay_on", stay_on_.values()}};
}

void BasisSelection::set_parameter(const Parameter& parameter) {
  if (parameter.name == "stay_off") {
    stay_off_ = probability("stay_off", parameter.value.reshaped(), num_components_);
  } else if (parameter.name == "stay_on") {
    stay_on_ = probability("stay_on", parameter.value.reshaped(), num_components_);
  } else {
    throw UsageError(
        fmt::format("prior 'basis-selection' has no parameter '{}'; it has stay_off and stay_on",
                    parameter.name));
  }
}

void BasisSelection::maximise(std::span<const double> moves) {
  // n = (n00, n01, n10, n11)
  stay_off_.update(moves, 4, [](const Vector& n, double before) {
    return n[0] + n[1] > 0 ? inside_unit_interval(n[0] / (n[0] + n[1])) : before;
  });
  stay_on_.update(moves, 4, [](const Vector& n, double before) {
    return n[2] + n[3] > 0 ? inside_unit_interval(n[3] / (n[2] + n[3])) : before;
  });
}

}  // namespace headwater
