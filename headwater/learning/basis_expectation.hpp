#pragma once

#include "headwater/any_prior.hpp"
#include "headwater/m_step_options.hpp"
#include "headwater/observation.hpp"

namespace headwater {

// The mean count of each channel an observation of exposure 1, for channels that are alike: their
// means are taken to be gamma distributed, with a shape and a rate that fit the totals of all
// channels best (empirical Bayes, as in [Robbins1956]). A channel without a count has a small mean,
// never 0.
Vector usual_channels(const RecordView& observations);

// What is expected of the entries of a basis: in each channel the columns are to each other as they
// are in all channels together, and the channel's mean is the usual one.
BasisExpectation expectation_around(const Matrix& basis, const AnyPrior& prior,
                                    const Vector& channels);

// Whether many entries of a basis of so many columns get so few counts that it matters what is
// expected of them.
bool has_scarce_counts(const RecordView& observations, Index num_columns);

// Whether a channel that was seen has had no count at all.
bool has_silent_channel(const RecordView& observations);

}  // namespace headwater
