#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "headwater/learning/online_em.hpp"
#include "headwater/observation.hpp"

namespace headwater {

struct BatchEmOptions {
  std::int64_t max_iterations = 200;  // 1 or more
  // Stops when an iteration adds less than this times |log-likelihood|. 0: never.
  double tolerance = 1e-9;
  // Whether a chain that starts in its stationary law is taken to have been running, unseen, before
  // the first observation. Then the M-step accounts for how the law of the first state depends on
  // the prior's parameters; without it, as the paper has it, that is left out.
  bool unseen_past = true;
  // Whether EM's steps for the basis are lengthened (see BasisCurvature). Not if the log-likelihood
  // must not fall: batch_em has no use for it.
  bool lengthen_steps = false;
  MStepOptions m_step;
};

struct BatchEmResult {
  Estimate estimate;
  Estimate last;  // the last iterate; the estimate may be a mean of several
  // Of the parameters before each iteration, then of the last; impossible observations left out.
  std::vector<double> log_likelihood;
  std::int64_t iterations = 0;
  std::int64_t impossible_observations = 0;  // under the last parameters
  bool converged = false;
};

// EM on a whole record [YildirimCemgilSingh2012, sec. 3.1], exactly, for a finite prior.
//
// The log-likelihood (with the weak priors' log-density) does not fall, if the update of the basis
// does not lower it (see CellLaw). The parameters of the prior and of the law of the counts go only
// part of their way, or stay for that iteration, should they cost more than an iteration gains. So
// may the prior's, since the law of the first state depends on them (see unseen_past), and the
// law's, since their statistics are those of the basis before it was updated.
//
// on_iteration is told the log-likelihood of the start (iteration 0) and of what each iteration led
// to.
using OnIteration =
    std::function<void(std::int64_t iteration, double log_likelihood, const Estimate& estimate)>;
BatchEmResult batch_em(const RecordView& observations, Estimate start,
                       const BatchEmOptions& options, const OnIteration& on_iteration = {});

}  // namespace headwater
