#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "headwater/export.hpp"
#include "headwater/matrix.hpp"
#include "headwater/state_archive.hpp"

namespace headwater {

// Where the scale of unbounded activations (see ScaledPrior) is learned. Plain: in the columns of
// the basis alone. That is slow wherever counts tell something about activations, since these then
// follow the columns. Expanded: in the columns and in the prior, whose scale is free; only the
// product of both matters [LiuRubinWu1998]. This is as fast as the better of both. Where the prior
// has no scale, or the basis is held, both are the same.
enum class Scale { kExpanded, kPlain };

// What the entries of the basis are expected to be before a channel has said much: entry (m, k) has
// a Gamma prior whose mode is channels[m] columns[k], and that is worth so many counts. Found from
// data (see basis_expectation.hpp).
struct BasisExpectation {
  double counts = 0;  // 0: nothing is expected
  Vector channels;    // M, all positive
  Vector columns;     // K, background included, all positive

  bool any() const { return counts > 0; }
  void exchange(StateArchive& archive);
};

// Weak priors and floors of the M-step. They prevent division by zero, and zeros that EM could
// never leave again. The priors act as pseudo-observations, so their effect vanishes as data come
// in.
struct HEADWATER_EXPORT MStepOptions {
  // Gamma(shape, rate / scale) prior on the entries of each channel, where scale is the mean of the
  // channel's entries in the basis that the fit starts from:
  //   B = (S2 + (shape - 1) / n) / (S1 + rate / (scale n))
  // after n observations [Cemgil2009]. Without any evidence an entry ends at (shape - 1) / rate
  // times the scale.
  double basis_shape = 1 + 1e-6;
  double basis_rate = 1e-6;
  // Added to the above. A search for a start finds it, unless shape or rate have been set.
  BasisExpectation expectation;
  // No entry of the basis below this times its channel's scale.
  double basis_floor = 1e-10;
  // Beta (Dirichlet) prior of weight 1 + this on the transitions of a finite prior, those that are
  // possible at all.
  double transition_weight = 1e-6;
  // The smallest estimate of the probability of a possible transition. N particles hardly ever make
  // a move of probability below 1 / N, so without this floor EM could never raise its estimate
  // again. In [0, 0.5).
  double transition_floor = 0;

  Scale scale = Scale::kExpanded;

  // Whether the profile of a season is drawn towards its neighbouring phases and towards 1, by as
  // much as the data suggest.
  bool shrink_profile = true;

  bool hold_basis = false;
  std::vector<std::string> held_parameters;

  bool holds(std::string_view parameter) const;

  // Whether shape and rate are as they are by default.
  bool has_default_basis_prior() const;

  // As in the paper: the basis is the ratio of the statistics, without weak priors and floors. The
  // scale is plain.
  void drop_weak_priors();
};

}  // namespace headwater
