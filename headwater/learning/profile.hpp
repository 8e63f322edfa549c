#pragma once

#include "headwater/emission/statistics.hpp"

namespace headwater {

// The profile that the sums of a period's phases lead to, K x P, rows of mean 1: counts over
// expected counts, phase by phase. A phase that was never visited, or that nothing was expected of,
// has the gain 1.
Matrix plain_profile(const PhaseSums& sums);

// The same, with each phase drawn towards its neighbours on either side (the last phase is followed
// by the first) and all of them towards 1. By how much is learned from the phases themselves,
// component by component [EfronMorris1975]: see shrunk_rates.
Matrix shrunk_profile(const PhaseSums& sums);

// Rates counts / expected of phases in a circle, where counts scatter as Poisson counts do:
//   rate_h = near_h + w_h (counts_h / expected_h - near_h),
// where near_h is the rate of the neighbours. The weight w_h compares the scatter of single phases
// around their neighbours with the part of it that is noise. Then the same towards the rate of all.
Vector shrunk_rates(const Vector& counts, const Vector& expected);

}  // namespace headwater
