#include "headwater/learning/level_prior.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "headwater/core/error.hpp"

namespace headwater {

namespace {

constexpr Index kDraws = 4096;
constexpr Index kMostLevels = 4;
// Levels closer than this, in standard deviations of the activation, are one.
constexpr double kSameLevel = 0.25;

Index largest_number_of_levels(Index num_components, Index most_states) {
  Index levels = kMostLevels;
  while (levels >= 2 && std::pow(static_cast<double>(levels), static_cast<double>(num_components)) >
                            static_cast<double>(most_states)) {
    --levels;
  }
  return levels;
}

// For each draw, which of `levels` equally probable ranges of its column it lies in.
Eigen::MatrixXi ranges_of(const Matrix& draws, Index levels) {
  Eigen::MatrixXi ranges(draws.rows(), draws.cols());
  std::vector<Index> order(static_cast<std::size_t>(draws.rows()));
  for (Index k = 0; k < draws.cols(); ++k) {
    for (Index i = 0; i < draws.rows(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, [&](Index i) { return draws(i, k); });
    for (Index rank = 0; rank < draws.rows(); ++rank) {
      ranges(order[rank], k) = static_cast<int>(rank * levels / draws.rows());
    }
  }
  return ranges;
}

Matrix means_of(const Matrix& draws, const Eigen::MatrixXi& ranges, Index levels) {
  Matrix sums = Matrix::Zero(levels, draws.cols());
  Matrix counts = Matrix::Zero(levels, draws.cols());
  for (Index k = 0; k < draws.cols(); ++k) {
    for (Index i = 0; i < draws.rows(); ++i) {
      sums(ranges(i, k), k) += draws(i, k);
      counts(ranges(i, k), k) += 1;
    }
  }
  return sums.cwiseQuotient(counts);
}

double standard_deviation(const Matrix& draws) {
  const auto centred = (draws.rowwise() - draws.colwise().mean()).array();
  return std::sqrt(centred.square().mean());
}

// How often a draw goes from one level to another, over all components; each move once more than
// it was seen, so that none is impossible.
Matrix moves_between(const Matrix& levels, const Matrix& before, const Matrix& after) {
  const auto nearest = [&](double x, Index k) {
    Index level = 0;
    (levels.col(k).array() - x).abs().minCoeff(&level);
    return level;
  };
  Matrix moves = Matrix::Ones(levels.rows(), levels.rows());
  for (Index k = 0; k < before.cols(); ++k) {
    for (Index i = 0; i < before.rows(); ++i) {
      moves(nearest(before(i, k), k), nearest(after(i, k), k)) += 1;
    }
  }
  return moves.array().colwise() / moves.rowwise().sum().array();
}

}  // namespace

LevelPrior::LevelPrior(Matrix levels, Matrix transition)
    : levels_(std::move(levels)), transition_(std::move(transition)) {
  validate(finite_chain(), "prior 'levels'");
}

FiniteChain LevelPrior::finite_chain() const {
  const Vector initial = stationary_law(transition_);
  FiniteChain chain;
  for (Index k = 0; k < levels_.cols(); ++k) {
    chain.axes.push_back({levels_.col(k), initial, transition_});
  }
  return chain;
}

void LevelPrior::set_parameter(const Parameter& parameter) {
  if (parameter.name != "transition") {
    throw UsageError(
        fmt::format("prior 'levels' has no parameter '{}'; it has transition", parameter.name));
  }
  *this = LevelPrior(levels_, parameter.value);
}

void LevelPrior::maximise(std::span<const double> moves) {
  const Index size = levels_.rows();
  RowMatrix counts = RowMatrix::Zero(size, size);
  for (Index k = 0; k < levels_.cols(); ++k) {
    counts += Eigen::Map<const RowMatrix>(moves.data() + k * size * size, size, size);
  }
  for (Index i = 0; i < size; ++i) {
    const double visits = counts.row(i).sum();
    if (visits > 0) transition_.row(i) = counts.row(i) / visits;
  }
}

std::optional<AnyPrior> stand_in(const AnyPrior& prior, Index most_states) {
  const Index most_levels = largest_number_of_levels(prior.num_components(), most_states);
  if (most_levels < 2) return std::nullopt;
  const RandomStream random(0);
  Matrix states(kDraws, prior.state_size());
  Matrix next(kDraws, prior.state_size());
  Matrix before(kDraws, prior.num_components());
  Matrix after(kDraws, prior.num_components());
  prior.sample_initial({random, 0, 0, Purpose::initial_state}, states);
  prior.sample_transition({random, 1, 0, Purpose::transition}, states, next);
  prior.activations(states, before);
  prior.activations(next, after);
  const double spread = standard_deviation(before);
  for (Index levels = most_levels; levels >= 2; --levels) {
    const Matrix means = means_of(before, ranges_of(before, levels), levels);
    const Matrix steps = means.bottomRows(levels - 1) - means.topRows(levels - 1);
    if (levels > 2 && steps.minCoeff() < kSameLevel * spread) continue;
    return AnyPrior(LevelPrior(means, moves_between(means, before, after)));
  }
  return std::nullopt;
}

}  // namespace headwater
