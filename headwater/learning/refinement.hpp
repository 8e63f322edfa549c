#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "headwater/learning/estimate.hpp"
#include "headwater/observation.hpp"

namespace headwater {

// Estimates of models with unbounded activations, made better by a look at many observations at
// once. Where counts nearly determine the activations, EM hardly moves columns that have taken in
// parts of each other, and noisy steps cannot be combined. EM by Laplace's approximation can
// (laplace_em), so that it ends near the estimate of maximum likelihood.

struct RefinementEffort {
  std::int64_t iterations = 40;       // of EM on the part that is fitted to ...
  std::int64_t last_iterations = 20;  // ... and then on all
  // Entries of the basis begin at this part of their channel's mean, at least: an entry near zero
  // hardly moves, since its gradient is as small as it is.
  double least_entry = 0.2;
};

// So many of the observations, at most, can be looked at: none where the prior, the law or the
// season is not one that this is done for.
Index most_to_refine_on(const Estimate& estimate);

// Whether an estimate predicts the last third of the observations better than another, by the
// filter of the fast engine. One that has seen these observations and predicts them worse all the
// same is where Laplace's approximation is poor.
bool predicts_better(const Estimate& estimate, const Estimate& than, const RecordView& observations,
                     std::uint64_t seed);

// An estimate from the first two thirds of the observations predicts the rest, one after the other.
// If it does so better than `now`, what EM makes of it on all observations is returned; if not,
// nothing. That is the test of Laplace's approximation, too, which is poor where counts are few. EM
// begins at `now` and at `others`, and goes on from the one that is likeliest in the end. What EM
// makes of it is compared with `now` once more.
//
// tell is called now and then.
std::optional<Estimate> refined(const RecordView& observations, const Estimate& now,
                                const std::vector<Estimate>& others, const MStepOptions& options,
                                const RefinementEffort& effort, std::uint64_t seed,
                                const std::function<void()>& tell = {});

// The same for an estimate that a search has found. EM begins at another basis, too, where there is
// one. False if nothing changes.
bool refine_start(const RecordView& observations, const Matrix& other_basis,
                  const MStepOptions& options, std::uint64_t seed,
                  const std::function<void()>& tell, Estimate& estimate);

// Where a start could be refined: what EM makes of an estimate on these observations, such as one
// under another law.
Estimate refitted_by_look(const RecordView& observations, const Estimate& start,
                          const MStepOptions& options, const std::function<void()>& tell);

// What the M-step wants of these observations, under an estimate whose prior may have any scale: in
// so many stretches, one after the other, or in one for each observation if there are fewer.
std::vector<Statistics> refined_statistics(const RecordView& observations, const Estimate& estimate,
                                           Index num_stretches, bool learn_prior);

}  // namespace headwater
