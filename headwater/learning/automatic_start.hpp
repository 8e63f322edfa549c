#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headwater/learning/estimate.hpp"
#include "headwater/learning/search_effort.hpp"
#include "headwater/learning/search_tasks.hpp"
#include "headwater/observation.hpp"
#include "headwater/reports.hpp"

namespace headwater {

struct StartSearch {
  Estimate estimate;
  BasisExpectation expectation;  // of the basis, for the fit that follows
  StartReport report;
};

// A basis, and for a finite prior its parameters, to start from when nothing is known: the best of
// several beginnings (from cumulants of the counts, from classical factorisation, at random, scaled
// to the data), each improved by some iterations of exact EM, the less likely half of them dropped
// after every round. The beginnings are found from all observations, EM is tried on the first of
// them. A prior with too many states for that has a stand-in of a few levels for the purpose; where
// even that has too many, EM is done by a narrow beam or by the fast engine; and for a prior that
// has neither, classical factorisation decides.
//
// With periods, beginnings are found from observations that each channel's own season was taken out
// of; the channels' profiles are split among the components, and EM improves the season too.
//
// The basis has a last column more for a background. What the options hold is not touched.
//
// The search is under the first law. Each further one is then compared with the one that has been
// chosen so far: both are fitted to the first two thirds of the observations and predict the rest,
// and the further one is taken if it predicts better, in place of the Poisson law by more than
// three standard errors, two where the gain is large, or one where few observations are decisive
// (see compare_laws). (With two for any gain, a law that
// scatters more would be taken wrongly for several Poisson streams of forty: it makes up for a
// basis that is not known exactly.) Where EM is tried on a small part of the observations, both
// laws are fitted to two thirds of that part, and then learn from one observation after the other.
//
// With fewer than 30 observations, and where what is held out can tell nothing of the laws, the
// widest one is taken.
//
// In the same way it is found, where counts are scarce, what is to be expected of the basis (see
// choose_expectation; little, where a channel has been silent beside many counts), unless the
// options have a prior of the basis other than the default, and whether the fit that follows is to
// remember more (see choose_memory).
//
// Trials of a round run on the pool's threads, and so do the fits that a choice compares. The
// result does not depend on their number. The listener is told on the caller's thread alone.
StartSearch automatic_start(const RecordView& observations, const AnyPrior& prior,
                            const std::vector<AnyLaw>& laws, bool background,
                            const MStepOptions& options, std::uint64_t seed,
                            const OnSearch& on_search = {}, const std::vector<Index>& periods = {},
                            const SearchEffort& effort = {},
                            const ThreadPool& pool = ThreadPool(1));

}  // namespace headwater
