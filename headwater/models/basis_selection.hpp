#pragma once

#include <span>
#include <string>

#include "headwater/concepts.hpp"
#include "headwater/models/shared_or_own.hpp"

namespace headwater {

// Components that are off or on, each an independent two-state chain that starts in its stationary
// distribution [YildirimCemgilSingh2012, sec. 4.1]. stay_off = p = P(0 -> 0) and stay_on = q = P(1
// -> 1), both in (0, 1), are shared by all components or separate for each.
class BasisSelection {
 public:
  BasisSelection(Index num_components, double stay_off, double stay_on);
  BasisSelection(Index num_components, Vector stay_off, Vector stay_on);

  std::string name() const { return "basis-selection"; }
  Index num_components() const { return num_components_; }
  FiniteChain finite_chain() const;

  Parameters parameters() const;
  void set_parameter(const Parameter& parameter);
  // p = n00 / (n00 + n01) and q = n11 / (n10 + n11). A probability stays unchanged if no visit to
  // its state is expected.
  void maximise(std::span<const double> moves);

 private:
  Index num_components_;
  SharedOrOwn stay_off_;
  SharedOrOwn stay_on_;
};

static_assert(FinitePrior<BasisSelection> && LearnablePrior<BasisSelection>);

}  // namespace headwater
