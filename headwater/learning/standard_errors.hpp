#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "headwater/engines/engine.hpp"
#include "headwater/estimate.hpp"
#include "headwater/learning/block_statistics.hpp"
#include "headwater/learning/m_step.hpp"
#include "headwater/standard_errors.hpp"

namespace headwater {

// Standard errors of an estimate theta that is a fixed point of EM, theta = F(S(theta)), where S
// are the averaged statistics of the E-step and F is the M-step, whatever it does. To first order
//   theta - truth = C^-1 mean(v),   v = F'(S) (s - S),   C = I - d F(S(theta)) / d theta,
// where s are the statistics of single blocks. So the covariance of theta is C^-1 V C^-T / n, with
// the long-run variance V of v an observation.
//
// V is measured on the stream itself: the errors are right if the model is not. C is that of the
// model: C = cov(v, score) by Louis's identity [Louis1982], measured on observations that are
// drawn from the estimate. With the V of these, the plain errors are those of a right model.

// What the E-step of a fit has said.
struct FittedStatistics {
  const MStep& m_step;
  const Estimate& working;  // in the engine's own scale (see Scale)
  const Statistics& mean;   // whose M-step leads to the estimate
  std::vector<BlockStatistics::Batch> batches;
  double observations;  // how many of equal weight the mean is worth
};

// An engine whose random numbers are those of this run; it brings statistics up to date as often as
// it can at this price: after so many observations.
inline constexpr Index kDrawnBlock = 8;
using MakeEngineOfRun = std::function<std::unique_ptr<Engine>(const Estimate& estimate, int run)>;

struct StandardErrorOptions {
  std::uint64_t seed = 1;
  // Whether two runs on the same observations differ. If so, both are made: what is noise in the
  // one is none in the other.
  bool engine_is_random = false;
};

// estimate: the one that was reported, with a prior of scale 1. Nothing if there is too little to
// go by.
std::optional<StandardErrors> standard_errors(const Estimate& estimate,
                                              const FittedStatistics& fitted,
                                              const MakeEngineOfRun& make_engine,
                                              const StandardErrorOptions& options);

}  // namespace headwater
