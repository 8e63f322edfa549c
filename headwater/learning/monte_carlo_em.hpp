#pragma once

#include <functional>
#include <memory>

#include "headwater/engines/engine.hpp"
#include "headwater/learning/batch_em.hpp"

namespace headwater {

// An engine for a pass over the record under given parameters; its random numbers should be others
// in each iteration.
using MakeEngine =
    std::function<std::unique_ptr<Engine>(const Estimate& estimate, std::int64_t iteration)>;

// EM on a whole record by an engine that estimates: each iteration is a pass over all
// observations, which weigh the same, and one M-step. The likelihood is an estimate too, and so
// may fall. An iteration has converged when the mean over the last ten gains less, over that of
// the ten before, than the tolerance or the standard error of the difference; what is returned is
// the mean of the last iterates, up to ten, since each has noise of its own.
BatchEmResult monte_carlo_em(const RecordView& observations, Estimate start,
                             const BatchEmOptions& options, const MakeEngine& make_engine,
                             const OnIteration& on_iteration = {});

}  // namespace headwater
