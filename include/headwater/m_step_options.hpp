#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "headwater/export.hpp"

namespace headwater {

// Where the scale of activations that have one (see ScaledPrior) is learned. Plain: in the columns
// of the basis. Centred: in the prior, while the columns keep their sums. Both are the same model
// with other missing data [LiuRubinWu1998]. Where counts are many the plain form hardly moves along
// the scale. The centred form does, but takes every fluctuation of the mean activation for a change
// of scale, where the plain one divides it out; with components that look alike this noise lets
// columns drift into each other. Auto: centred where the start expects a hundred counts or more for
// each component and step on average. Centred or not, it is plain where the prior has no scale and
// where the basis is held.
enum class Scale { kAuto, kCentred, kPlain };

// What keeps the M-step away from division by zero and from zeros that could never be left again.
// All act with the weight of pseudo-observations, so their effect vanishes as data come in.
struct HEADWATER_EXPORT MStepOptions {
  // Gamma(shape, rate / scale) prior on the entries of each channel, where scale is the mean of the
  // channel's entries in the basis that the fit starts from:
  //   B = (S2 + (shape - 1) / n) / (S1 + rate / (scale n))
  // after n observations [Cemgil2009]. Without any evidence an entry ends at (shape - 1) / rate
  // times the scale.
  double basis_shape = 1 + 1e-6;
  double basis_rate = 1e-6;
  // No entry of the basis below this times its channel's scale.
  double basis_floor = 1e-10;
  // Beta (Dirichlet) prior of weight 1 + this on the transitions of a finite prior, those that are
  // possible at all.
  double transition_weight = 1e-6;
  // No transition that is possible at all is held for less probable than this. A filter of N
  // particles hardly ever makes a move that is rarer than 1 / N, and so could never learn again
  // that it happens.
  double transition_floor = 0;

  Scale scale = Scale::kAuto;

  bool hold_basis = false;
  std::vector<std::string> held_parameters;

  bool holds(std::string_view parameter) const;

  void validate() const;  // throws UsageError

  // As the paper has it: nothing but the ratio of the statistics, so that the scale is plain too.
  void drop_weak_priors();
};

}  // namespace headwater
