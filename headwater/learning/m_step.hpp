#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "headwater/any_law.hpp"
#include "headwater/any_prior.hpp"
#include "headwater/emission/statistics.hpp"
#include "headwater/m_step_options.hpp"
#include "headwater/season.hpp"

namespace headwater {

class SharedChannels;

// The M-step of a fit that starts from a given basis, which sets the scale of the weak priors, and
// a given prior.
class MStep {
 public:
  MStep(MStepOptions options, const Matrix& starting_basis, const AnyPrior& starting_prior);

  const MStepOptions& options() const { return options_; }
  void exchange(StateArchive& archive);
  // See SharedChannels.
  void collect_rows(SharedChannels& shared);
  bool fits(const Matrix& basis) const;  // whether what was read can be of a fit with such a basis
  // Whether the scale of the columns is learned in the prior, too (see Scale).
  bool is_expanded() const { return is_expanded_; }
  bool learns(const AnyPrior& prior) const;  // whether any parameter of it, or its scale
  bool learns(const Season& season) const { return !season.empty() && !options_.holds(kProfile); }

  // B(m, k) = S2(m, k) / S1(k), with what the options add. An entry for which there is no evidence
  // at all, because its component was never on while the channel was seen, stays as it is.
  void update_basis(const Statistics& statistics, Matrix& basis) const;

  // psi = Lambda(S3), given the parameters that are held; with the prior's scale if expanded.
  void update_prior(const Statistics& statistics, AnyPrior& prior) const;

  // The parameters of the law of the counts, given those that are held.
  void update_law(const Statistics& statistics, AnyLaw& law) const;

  // One of the profiles of the season, by turns, given the basis and the other profiles that its
  // sums were made with. (Two periods may explain the same counts, and if both moved at once, they
  // would go twice as far as they should.) Rows keep the mean 1, so that a column of the basis has
  // all of its component's scale.
  void update_season(const Statistics& statistics, std::int64_t turn, Season& season) const;

  // Log-density of the weak priors up to a constant: EM climbs this plus the log-likelihood.
  double log_prior(const Matrix& basis, const AnyPrior& prior) const;

 private:
  MStepOptions options_;
  Vector channel_scale_;
  bool is_expanded_;
};

// Whether any parameter of the prior is to be learned, or its scale may be: whether the M-step may
// want the prior's statistics.
bool learns_prior(const MStepOptions& options, const AnyPrior& prior);

}  // namespace headwater
