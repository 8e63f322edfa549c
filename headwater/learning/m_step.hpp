#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "headwater/emission/any_law.hpp"
#include "headwater/emission/statistics.hpp"
#include "headwater/models/any_prior.hpp"

namespace headwater {

// Where the scale of activations that have one (see ScaledPrior) is learned. Plain: in the columns
// of the basis. Centred: in the prior, while the columns keep their sums. Both are the same model
// with other missing data [LiuRubinWu1998]. Where counts are many the plain form hardly moves along
// the scale. The centred form does, but takes every fluctuation of the mean activation for a change
// of scale, where the plain one divides it out; with components that look alike this noise lets
// columns drift into each other. Auto: centred where the start expects a hundred counts or more for
// each component and step on average; of another law than Poisson's, what says as much. Centred or
// not, it is plain where the prior has no scale and where the basis is held.
enum class Scale { kAuto, kCentred, kPlain };

// What keeps the M-step away from division by zero and from zeros that could never be left again.
// All act with the weight of pseudo-observations, so their effect vanishes as data come in.
struct MStepOptions {
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

// The M-step of a fit that starts from a given basis, which sets the scale of the weak priors, a
// given prior and a given law of the counts.
class MStep {
 public:
  MStep(MStepOptions options, const Matrix& starting_basis, const AnyPrior& starting_prior,
        const AnyLaw& starting_law = {});

  const MStepOptions& options() const { return options_; }
  void exchange(StateArchive& archive) { archive(channel_scale_, centred_columns_); }
  bool is_centred() const { return centred_columns_ > 0; }
  bool learns(const AnyPrior& prior) const;  // whether any parameter of it, or its scale

  // B(m, k) = S2(m, k) / S1(k), with what the options add. An entry for which there is no evidence
  // at all, because its component was never on while the channel was seen, stays as it is.
  // Centred, the column of a component, though not the background, is then brought back to the sum
  // that it had: where all cells were seen and the options add nothing, B = S2 / (sum_m S2) times
  // that sum, which is the best of the columns with that sum.
  void update_basis(const Statistics& statistics, Matrix& basis) const;

  // psi = Lambda(S3), given the parameters that are held; with the prior's scale if centred.
  void update_prior(const Statistics& statistics, AnyPrior& prior) const;

  // The parameters of the law of the counts, given those that are held.
  void update_law(const Statistics& statistics, AnyLaw& law) const;

  // Log-density of the weak priors up to a constant: EM climbs this plus the log-likelihood.
  double log_prior(const Matrix& basis, const AnyPrior& prior) const;

 private:
  MStepOptions options_;
  Vector channel_scale_;
  Index centred_columns_;  // the first so many columns keep their sums
};

// Whether any parameter of the prior is to be learned, or its scale may be: whether the M-step may
// want the prior's statistics.
bool learns_prior(const MStepOptions& options, const AnyPrior& prior);

}  // namespace headwater
