#include "headwater/learning/laplace_em.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "headwater/learning/estimate.hpp"
#include "headwater/learning/laplace_path.hpp"

namespace headwater {

namespace {

// Steps that are combined, at most.
constexpr std::size_t kCombined = 10;
// Of the trace: what keeps the combination from following rounding errors.
constexpr double kLeastGram = 1e-10;
// Part of EM's own value that an entry of the basis keeps at least, and how much more it may be: in
// its root.
constexpr double kLeastPart = 0.3;
constexpr double kMostPart = 3;
constexpr int kQuietIterations = 3;
// Nats that a combination may be below the best so far: the M-step of some priors goes by moments,
// and climbs the log-likelihood only nearly.
constexpr double kSlack = 20;

// Of a combination, how far a parameter may be from EM's own value, as a part of how far that is
// from 0 and from 1: so it stays in its range.
constexpr double kMostOfParameter = 0.5;
// What a parameter weighs beside the root of a mean entry of the basis.
constexpr double kParameterWeight = 1.5;

// The numbers of an estimate as EM's steps are combined. EM moves the root of an entry of the basis
// as if information were the same in all directions: there the slowest directions of EM are the
// ones that combinations find first. Parameters of the prior and of the law belong to it, since
// what EM makes of the basis depends on them.
class Coordinates {
 public:
  explicit Coordinates(const Estimate& start)
      : entries_(start.basis.size()), weight_(kParameterWeight * std::sqrt(start.basis.mean())) {}

  Vector of(const Estimate& estimate) const {
    Vector numbers = flatten(estimate);
    numbers.head(entries_) = numbers.head(entries_).cwiseSqrt();
    numbers.tail(numbers.size() - entries_) *= weight_;
    return numbers;
  }

  // The estimate at x, or as near to it as it may be to `image`, which is EM's own.
  Estimate at(const Vector& x, Estimate image, const MStepOptions& options) const {
    Vector numbers = flatten(image);
    const Vector roots = numbers.head(entries_).cwiseSqrt();
    numbers.head(entries_) =
        x.head(entries_).cwiseMax(kLeastPart * roots).cwiseMin(kMostPart * roots).cwiseAbs2();
    auto parameters = numbers.tail(numbers.size() - entries_).array();
    const Eigen::ArrayXd most =
        kMostOfParameter * parameters.abs().min((1 - parameters.abs()).abs());
    const Eigen::ArrayXd away = x.tail(parameters.size()).array() / weight_ - parameters;
    parameters += away.max(-most).min(most);
    unflatten(numbers, options, image);
    return image;
  }

 private:
  Index entries_;
  double weight_;
};

// Expectations of the second order can fail altogether where counts are few.
bool is_sound(const Statistics& statistics) {
  for (const std::span<const double> sums : statistics.sums()) {
    if (!std::ranges::all_of(sums, [](double value) { return std::isfinite(value); })) return false;
  }
  return (statistics.s1.array() > 0).all();
}

}  // namespace

Vector AndersonSteps::next(const Vector& x, const Vector& image) {
  const Vector change = image - x;
  const auto count = static_cast<Index>(past_.size());
  Vector result = image;
  if (count > 0) {
    Matrix changes(x.size(), count);
    Matrix images(x.size(), count);
    for (Index i = 0; i < count; ++i) {
      const Pair& pair = past_[static_cast<std::size_t>(i)];
      changes.col(i) = change - pair.change;
      images.col(i) = image - pair.image;
    }
    Matrix gram = changes.transpose() * changes;
    gram.diagonal().array() += kLeastGram * gram.trace() + std::numeric_limits<double>::min();
    result -= images * gram.ldlt().solve(changes.transpose() * change);
  }
  past_.push_back({image, change});
  if (past_.size() > most_) past_.pop_front();
  return result;
}

BatchEmResult laplace_em(const RecordView& observations, Estimate start,
                         const BatchEmOptions& options, const OnIteration& on_iteration) {
  assert(options.max_iterations >= 1 && LaplacePath::is_in_reach(start.prior));
  const MStep m_step(options.m_step, start.basis, start.prior);
  const bool learn_prior = m_step.learns(start.prior);
  LaplacePath path(observations);
  const Coordinates coordinates(start);
  AndersonSteps steps(kCombined);
  BatchEmResult result{start, start, {-std::numeric_limits<double>::infinity()}, 0, 0, false};
  Estimate now = std::move(start);
  Estimate by_em = now;  // what EM alone makes of the last
  double last = -std::numeric_limits<double>::infinity();
  double best = last;
  int quiet = 0;
  bool is_combined = false;
  while (true) {
    const double log_likelihood = path.fit(now);
    const double climbed = log_likelihood + m_step.log_prior(now.basis, now.prior);
    if (on_iteration) on_iteration(result.iterations, log_likelihood, now);
    if (is_combined && !(climbed >= best - kSlack)) {
      now = by_em;
      is_combined = false;
      steps.forget();
      if (result.iterations++ == options.max_iterations) break;
      continue;
    }
    if (!std::isfinite(climbed)) break;  // the estimate is the last one that was not
    quiet = std::abs(climbed - last) < options.tolerance ? quiet + 1 : 0;
    last = climbed;
    if (climbed > best) {
      best = climbed;
      result.estimate = now;
      result.log_likelihood.push_back(log_likelihood);
    }
    result.converged = quiet >= kQuietIterations;
    if (result.converged || result.iterations == options.max_iterations) break;

    ++result.iterations;
    const Vector before = coordinates.of(now);
    const Statistics statistics = path.statistics(now, learn_prior);
    if (!is_sound(statistics)) break;
    const Matrix least = kLeastPart * now.basis;
    m_step.update_basis(statistics, now.basis);
    if (!options.m_step.hold_basis) now.basis = now.basis.cwiseMax(least);
    m_step.update_law(statistics, now.law);
    m_step.update_season(statistics, result.iterations, now.season);
    if (learn_prior) m_step.update_prior(statistics, now.prior);
    now = with_unit_scale(std::move(now));
    by_em = now;
    const Vector next = steps.next(before, coordinates.of(by_em));
    is_combined = !options.m_step.hold_basis && next.allFinite();
    if (is_combined) now = coordinates.at(next, by_em, options.m_step);
  }
  result.last = result.estimate;
  return result;
}

}  // namespace headwater
