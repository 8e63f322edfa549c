#include "headwater/learning/batch_em.hpp"

#include <fmt/format.h>

#include <cmath>

#include "headwater/core/error.hpp"
#include "headwater/engines/exact_batch.hpp"
#include "headwater/engines/exact_engine.hpp"

namespace headwater {

namespace {

// A fall by less than this, relative, is rounding.
constexpr double kRounding = 1e-12;

}  // namespace

void BatchEmOptions::validate() const {
  if (max_iterations < 1) {
    throw UsageError(fmt::format("iterations is {}; expected 1 or more", max_iterations));
  }
  if (!(tolerance >= 0 && std::isfinite(tolerance))) {
    throw UsageError(fmt::format("tolerance is {}; expected 0 or more", tolerance));
  }
  m_step.validate();
}

BatchEmResult batch_em(const Eigen::Ref<const Matrix>& observations, Estimate start,
                       const BatchEmOptions& options, const OnIteration& on_iteration) {
  options.validate();
  check_exact_reach(start.prior);
  BatchEmResult result{std::move(start), {}, 0, 0, false};
  Estimate& now = result.estimate;
  Estimate before = now;
  bool learn_prior = learns_prior(options.m_step, now.prior);

  while (true) {
    ExactBatch pass(now.prior.finite_chain(), now.basis, observations);
    const double value = pass.log_likelihood();
    const bool has_previous = !result.log_likelihood.empty();
    const double gain = has_previous ? value - result.log_likelihood.back() : 0;
    if (has_previous && learn_prior && gain < -kRounding * std::abs(value)) {
      now = before;
      learn_prior = false;
      result.log_likelihood.pop_back();
      continue;
    }
    result.log_likelihood.push_back(value);
    result.impossible_observations = pass.impossible_observations();
    result.iterations = static_cast<std::int64_t>(result.log_likelihood.size()) - 1;
    if (on_iteration) on_iteration(result.iterations, value, now);
    result.converged =
        has_previous && options.tolerance > 0 && gain < options.tolerance * std::abs(value);
    if (result.converged || result.iterations == options.max_iterations) return result;

    before = now;
    const Statistics statistics = pass.statistics(learn_prior);
    update_basis(statistics, options.m_step, now.basis);
    if (learn_prior) update_prior(statistics, options.m_step, now.prior);
  }
}

}  // namespace headwater
