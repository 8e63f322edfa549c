#include "headwater/learning/batch_em.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <optional>

#include "headwater/engines/exact_batch.hpp"
#include "headwater/engines/exact_engine.hpp"

namespace headwater {

namespace {

// A fall by less than this, relative, is rounding.
constexpr double kRounding = 1e-12;
// A law that changes by less than this in a step is stationary.
constexpr double kStationary = 1e-9;
// The parameters of prior and law go at least this part of their way, or stay for this iteration.
constexpr double kShortestStride = 1.0 / 64;

// Parameters that lie `stride` of the way from those of `from` to those of `to`: of priors, or of
// laws of the counts.
template <class Parametrised>
Parametrised part_of_the_way(const Parametrised& from, const Parametrised& to, double stride) {
  if (stride == 1) return to;
  Parametrised between = from;
  const Parameters start = from.parameters();
  const Parameters end = to.parameters();
  for (std::size_t i = 0; i < start.size(); ++i) {
    between.set_parameter(
        {start[i].name, start[i].value + stride * (end[i].value - start[i].value)});
  }
  return between;
}

// Where the M-step wants one profile of the season to go. With the basis before its update the
// rates of the phases are counts / expected. After it, all of a component's are smaller by what its
// column has grown. The mean rate is not 1, and the column takes it over.
class SeasonAim {
 public:
  SeasonAim(const MStep& m_step, const Statistics& statistics, std::int64_t turn,
            const Season& before, const Matrix& basis_before)
      : season_(before), sums_before_(column_sums(basis_before)) {
    if (!m_step.learns(before)) return;
    m_step.update_season(statistics, turn, season_);
    const std::size_t which = static_cast<std::size_t>(turn) % before.profiles().size();
    const PhaseSums& sums = statistics.phases[which];
    mean_rates_ = (sums.expected.array() > 0)
                      .select(sums.counts.array() / sums.expected.array(), 1)
                      .rowwise()
                      .mean();
  }

  // So much of the way from the season of `estimate`, whose basis is updated.
  void go(double stride, Estimate& estimate) const {
    const Vector grown = column_sums(estimate.basis);
    for (Index k = 0; k < mean_rates_.size(); ++k) {
      if (!(mean_rates_[k] > 0 && sums_before_[k] > 0 && grown[k] > 0)) continue;
      estimate.basis.col(k) *= std::pow(mean_rates_[k] * sums_before_[k] / grown[k], stride);
    }
    for (std::size_t p = 0; p < season_.profiles().size(); ++p) {
      const Matrix& from = estimate.season.profiles()[p];
      estimate.season.set_profile(p, from + stride * (season_.profiles()[p] - from));
    }
  }

 private:
  Season season_;
  Vector sums_before_;
  Vector mean_rates_;
};

// As many unseen steps as the chain remembers; none for one that does not start stationary.
Index lead_in(const AnyPrior& prior) {
  const FiniteChain& chain = prior.finite_chain();
  for (const FiniteAxis& axis : chain.axes) {
    const Vector next = axis.transition.transpose() * axis.initial;
    if ((next - axis.initial).cwiseAbs().maxCoeff() > kStationary) return 0;
  }
  return window_lag({}, chain.joint_transition().contraction());
}

}  // namespace

BatchEmResult batch_em(const RecordView& observations, Estimate start,
                       const BatchEmOptions& options, const OnIteration& on_iteration) {
  assert(options.max_iterations >= 1 && options.tolerance >= 0);
  check_exact_reach(start.prior);
  const MStep m_step(options.m_step, start.basis, start.prior);
  const bool learn_prior = m_step.learns(start.prior);
  const bool learn_law = start.law->num_statistics(start.basis.rows()) > 0;
  const bool learn_season = m_step.learns(start.season);
  BatchEmResult result{start, std::move(start), {}, 0, 0, false};
  Estimate& now = result.estimate;
  double stride = 1;  // how much of their way the parameters were last seen to be able to go

  std::optional<ExactBatch> pass;
  const auto e_step = [&] {
    pass.emplace(now.prior.finite_chain(), now.emission(), observations);
    const double log_likelihood = pass->impossible_observations() > 0
                                      ? -std::numeric_limits<double>::infinity()
                                      : pass->log_likelihood();
    return log_likelihood + m_step.log_prior(now.basis, now.prior);
  };
  double value = e_step();
  while (true) {
    result.log_likelihood.push_back(pass->log_likelihood());
    result.impossible_observations = pass->impossible_observations();
    if (on_iteration) on_iteration(result.iterations, pass->log_likelihood(), now);
    if (result.converged || result.iterations == options.max_iterations) break;
    ++result.iterations;

    const AnyPrior prior_before = now.prior;
    const AnyLaw law_before = now.law;
    const Season season_before = now.season;
    const Matrix basis_before = now.basis;
    const double value_before = value;
    const Statistics statistics =
        pass->statistics(learn_prior, options.unseen_past ? lead_in(now.prior) : 0);
    m_step.update_basis(statistics, now.basis);
    AnyLaw law_aim = law_before;
    m_step.update_law(statistics, law_aim);
    AnyPrior prior_aim = prior_before;
    if (learn_prior) m_step.update_prior(statistics, prior_aim);
    const Matrix basis_aim = now.basis;
    const SeasonAim season_aim(m_step, statistics, result.iterations, season_before, basis_before);
    for (stride = std::min(1.0, 2 * stride);; stride /= 2) {
      const bool stays = !(learn_prior || learn_law || learn_season) || stride < kShortestStride;
      now.prior = stays ? prior_before : part_of_the_way(prior_before, prior_aim, stride);
      now.law = stays ? law_before : part_of_the_way(law_before, law_aim, stride);
      now.basis = basis_aim;
      now.season = season_before;
      if (!stays) season_aim.go(stride, now);
      value = e_step();
      if (stays || !(value < value_before - kRounding * std::abs(value_before))) break;
    }
    // Written so that a likelihood that stays at -infinity counts as no gain.
    result.converged =
        options.tolerance > 0 && !(value - value_before >= options.tolerance * std::abs(value));
  }
  result.last = now;
  return result;
}

}  // namespace headwater
