#include "headwater/engines/exact_engine.hpp"

#include <fmt/format.h>

#include <cassert>
#include <limits>

#include "headwater/core/error.hpp"
#include "headwater/smoothers/forward_recursion.hpp"

namespace headwater {

namespace {

std::unique_ptr<ExactSmoother> make_smoother(const ExactFilter& filter,
                                             const ExactEngineOptions& options) {
  using Smoother = ExactEngineOptions::Smoother;
  using Second = ForwardRecursion::SecondStatistic;
  switch (options.smoother) {
    case Smoother::kNone:
      return nullptr;
    case Smoother::kWindow:
      return std::make_unique<AdjointWindow>(filter, options.window, options.learn_prior);
    case Smoother::kForward:
      return std::make_unique<ForwardRecursion>(filter, Second::kAtOnce, options.learn_prior);
    case Smoother::kForwardAsPrinted:
      return std::make_unique<ForwardRecursion>(filter, Second::kAsPrinted, options.learn_prior);
  }
  return nullptr;
}

FiniteChain checked_chain(const AnyPrior& prior) {
  check_exact_reach(prior);
  FiniteChain chain = prior.finite_chain();
  validate(chain, fmt::format("prior '{}'", prior.name()));
  return chain;
}

}  // namespace

void check_exact_reach(const AnyPrior& prior) {
  if (!prior.is_finite()) {
    throw UsageError(
        fmt::format("prior '{}' has infinitely many states; the exact engine, the only one so far, "
                    "takes finite "
                    "priors",
                    prior.name()));
  }
  // One state at a time: the product itself may not fit an integer.
  Index num_states = 1;
  for (const FiniteAxis& axis : prior.finite_chain().axes) {
    num_states *= axis.size();
    if (num_states > kLargestExactStateSpace) {
      throw UsageError(fmt::format(
          "prior '{}' with {} components has more than {} states, the exact engine's reach; use "
          "fewer components",
          prior.name(), prior.num_components(), kLargestExactStateSpace));
    }
  }
}

ExactEngine::ExactEngine(const AnyPrior& prior, const Matrix& basis,
                         const ExactEngineOptions& options)
    : filter_(checked_chain(prior), basis),
      smoother_(make_smoother(filter_, options)),
      nothing_seen_(static_cast<std::size_t>(basis.rows()),
                    std::numeric_limits<double>::quiet_NaN()) {}

ExactEngine::ExactEngine(const ExactEngine& other)
    : filter_(other.filter_),
      smoother_(other.smoother_ ? other.smoother_->clone() : nullptr),
      nothing_seen_(other.nothing_seen_),
      has_new_statistics_(other.has_new_statistics_) {}

FilterStep ExactEngine::step(Observation y, double step_size) {
  const FilterStep step = filter_.step(y);
  has_new_statistics_ =
      smoother_ && smoother_->advance(filter_, step.impossible ? nothing_seen_ : y, step_size);
  return step;
}

void ExactEngine::finish() { has_new_statistics_ = smoother_ && smoother_->finish(filter_); }

const Statistics& ExactEngine::statistics() const {
  assert(smoother_);
  return smoother_->statistics();
}

Vector ExactEngine::predicted_activation() const {
  return filter_.states().transpose() * filter_.predicted();
}

Vector ExactEngine::filtered_activation() const {
  return filter_.states().transpose() * filter_.filtered();
}

}  // namespace headwater
