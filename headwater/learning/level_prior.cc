#include "headwater/learning/level_prior.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "headwater/error.hpp"

namespace headwater {

namespace {

constexpr Index kMoveDraws = 4096;
constexpr Index kMostLevels = 4;

Index largest_number_of_levels(Index num_components, Index most_states, Index most_binary_states) {
  for (Index levels = kMostLevels; levels >= 2; --levels) {
    const auto most = static_cast<double>(levels > 2 ? most_states : most_binary_states);
    const double states =
        std::pow(static_cast<double>(levels), static_cast<double>(num_components));
    if (states <= most) return levels;
  }
  return 1;
}

// Levels that leave the least mean square distance to the draws of one component (Lloyd's
// iterations, from the middles of equally probable ranges).
Vector levels_of(std::vector<double> draws, Index num_levels) {
  constexpr int kIterations = 30;
  std::ranges::sort(draws);
  const auto n = static_cast<Index>(draws.size());
  Vector levels(num_levels);
  for (Index i = 0; i < num_levels; ++i) levels[i] = draws[(2 * i + 1) * n / (2 * num_levels)];
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    Vector sums = Vector::Zero(num_levels);
    Vector counts = Vector::Zero(num_levels);
    Index level = 0;
    for (const double x : draws) {
      while (level + 1 < num_levels && x - levels[level] > levels[level + 1] - x) ++level;
      sums[level] += x;
      counts[level] += 1;
    }
    levels = (counts.array() > 0).select(sums.array() / counts.array(), levels.array());
  }
  return levels;
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

std::optional<AnyPrior> stand_in(const AnyPrior& prior, Index most_states,
                                 Index most_binary_states) {
  const Index num_levels =
      largest_number_of_levels(prior.num_components(), most_states, most_binary_states);
  if (num_levels < 2) return std::nullopt;
  const RandomStream random(0);
  Matrix states(kMoveDraws, prior.state_size());
  Matrix next(kMoveDraws, prior.state_size());
  Matrix before(kMoveDraws, prior.num_components());
  Matrix after(kMoveDraws, prior.num_components());
  prior.sample_initial({random, 0, 0, Purpose::initial_state}, states);
  prior.sample_transition({random, 1, 0, Purpose::transition}, states, next);
  prior.activations(states, before);
  prior.activations(next, after);
  Matrix levels(num_levels, prior.num_components());
  for (Index k = 0; k < levels.cols(); ++k) {
    const Vector draws = before.col(k);
    levels.col(k) = levels_of({draws.begin(), draws.end()}, num_levels);
  }
  return AnyPrior(LevelPrior(levels, moves_between(levels, before, after)));
}

}  // namespace headwater
