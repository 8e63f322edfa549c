#include "headwater/learning/prior_scores.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "headwater/error.hpp"

namespace headwater {

namespace {

// The step of numerical slopes, relative.
constexpr double kSlopeStep = 1e-5;

std::optional<AnyPrior> with_value(const AnyPrior& prior, Parameter parameter, Index i,
                                   double value) {
  AnyPrior changed = prior;
  parameter.value(i) = value;
  try {
    changed.set_parameter(parameter);
  } catch (const UsageError&) {
    return std::nullopt;  // it ends here
  }
  return changed;
}

}  // namespace

PriorScores prior_scores(const AnyPrior& prior, const Matrix& states) {
  PriorScores scores;
  scores.slopes.resize(states.rows(), 0);
  if (!prior.has_density() || states.rows() < 2) return scores;
  const Index moves = states.rows() - 1;
  Index place = 0;
  for (const Parameter& parameter : prior.parameters()) {
    for (Index i = 0; i < parameter.value.size(); ++i, ++place) {
      if (parameter.value.cols() != 1) continue;
      const double value = parameter.value(i);
      const double step = kSlopeStep * std::max(std::abs(value), kSlopeStep);
      const auto above = with_value(prior, parameter, i, value + step);
      const auto below = with_value(prior, parameter, i, value - step);
      if (!above && !below) continue;
      Vector high(moves);
      Vector low(moves);
      (above ? *above : prior)
          .log_transition(states.topRows(moves), states.bottomRows(moves), high);
      (below ? *below : prior).log_transition(states.topRows(moves), states.bottomRows(moves), low);
      Vector slope = Vector::Zero(states.rows());
      slope.tail(moves) = (high - low) / ((above ? step : 0) + (below ? step : 0));
      if (!slope.allFinite()) continue;
      scores.slopes.conservativeResize(Eigen::NoChange, scores.slopes.cols() + 1);
      scores.slopes.rightCols(1) = slope;
      scores.columns.push_back(place);
    }
  }
  return scores;
}

}  // namespace headwater
