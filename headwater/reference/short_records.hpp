#pragma once

#include <vector>

#include "headwater/any_prior.hpp"
#include "headwater/emission.hpp"
#include "headwater/emission/statistics.hpp"
#include "headwater/observation.hpp"
#include "headwater/reference/law_formulas.hpp"

namespace headwater::reference {

// A record so short that one can sum over all paths of the hidden states, under any law.
struct ShortRecord {
  AnyPrior prior;
  LawFormulas formulas;
  Matrix basis;   // M x K, or with a background as its last column
  Matrix counts;  // M x T, NaN if missing
  Matrix exposures;

  Emission emission() const { return {basis, formulas.law}; }
  Record record() const { return Record(counts, exposures); }
};

struct PathTruth {
  double log_likelihood = 0;
  Statistics statistics;  // each observation counts for 1 / T
};

PathTruth truth_by_paths(const ShortRecord& record);

// Six observations of three channels under each of two priors, two components and a background.
// There are missing cells, one observation that is missing as a whole, exposures, and zeros.
// `counts` is 3 x 6; which cells are missing does not depend on it.
std::vector<ShortRecord> short_records(const LawFormulas& formulas, Matrix counts);

}  // namespace headwater::reference
