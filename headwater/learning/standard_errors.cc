#include "headwater/learning/standard_errors.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <optional>

#include "headwater/learning/batch_series.hpp"
#include "headwater/learning/estimate.hpp"
#include "headwater/learning/estimate_layout.hpp"
#include "headwater/learning/long_run_covariance.hpp"
#include "headwater/learning/m_step_slope.hpp"
#include "headwater/learning/prior_scores.hpp"
#include "headwater/learning/profile_coordinates.hpp"
#include "headwater/simulate.hpp"

namespace headwater {

namespace {

// Fewer batches than this do not tell a variance.
constexpr Index kFewestOfStream = 20;
// Blocks that are drawn: so many, and so many for each number of the estimate.
constexpr Index kFewestDrawn = 512;
constexpr Index kDrawnForEach = 6;
// Independent products that are needed for each number, for their inverse to be of use.
constexpr double kProductsForEach = 2.5;
// An entry of the basis that has given fewer counts than this is taken to be zero.
constexpr double kLeastCounts = 1;

// Observations that are drawn from an estimate, with what is known of them: their states.
struct Drawn {
  Record record;
  Matrix states;
};

Drawn draw(const Estimate& estimate, Index length, std::uint64_t seed) {
  Drawn drawn;
  drawn.states.resize(length, estimate.prior.state_size());
  Simulator simulator(estimate.prior, estimate.emission(), seed);
  Observation y;
  for (Index t = 0; t < length; ++t) {
    simulator.next();
    std::vector<double> counts = simulator.observation();
    for (double& count : counts) count = std::min(count, kLargestCount);
    y.assign(counts);
    y.set_position(t);
    drawn.record.add(y);
    drawn.states.row(t) = simulator.state();
  }
  return drawn;
}

// Activations of what was drawn, with the background.
Matrix activations_of(const Estimate& estimate, const Drawn& drawn) {
  Matrix of_components(drawn.states.rows(), estimate.prior.num_components());
  estimate.prior.activations(drawn.states, of_components);
  Matrix x = Matrix::Ones(drawn.states.rows(), estimate.basis.cols());
  x.leftCols(of_components.cols()) = of_components;
  return x;
}

// The one-sided error of an entry that is about zero, times sqrt(n): from what an observation says
// about it if all else were known, E[x_k^2 i(lambda_m)], where the entry is as large as this.
double error_of_zero(const Estimate& estimate, const Matrix& x, Index m, Index k, double entry) {
  const Vector intensity = x * estimate.basis.row(m).transpose() + entry * x.col(k);
  Vector information(x.rows());
  estimate.law->information(m, as_span(intensity), as_span(information));
  const double mean = (x.col(k).array().square() * information.array()).mean();
  return mean > 0 ? 1 / std::sqrt(mean) : 0;
}

// The statistics of each block under the estimate, and those of all.
struct Run {
  std::vector<BlockStatistics::Batch> batches;
  Statistics mean;
};

Run run_over(Engine& engine, const RecordView& observations) {
  BlockStatistics blocks(kDrawnBlock);
  for (Index t = 0; t < observations.size(); ++t) {
    const double weight = 1 / static_cast<double>(t + 1);
    follow(engine, blocks, [&] {
      blocks.expect(weight);
      engine.step(observations[t], weight);
    });
  }
  follow(engine, blocks, [&] { engine.finish(); });
  return {blocks.without_first(0), engine.statistics()};
}

Matrix chosen_columns(const Matrix& all, const std::vector<Index>& columns) {
  Matrix chosen(all.rows(), std::ssize(columns));
  for (Index j = 0; j < chosen.cols(); ++j) chosen.col(j) = all.col(columns[j]);
  return chosen;
}

// E[W^-1 W0 W^-1] where W, a mean of n products of p numbers, has the mean W0 = I: what the
// inverse of a noisy matrix makes of variances.
double inflation(double n, double p) {
  return n * n * (n - 1) / ((n - p) * (n - p - 1) * (n - p - 3));
}

// has_errors: of each profile of the season.
ErrorsOfEstimate errors_of(const Estimate& estimate, const Vector& errors,
                           const std::vector<bool>& learned, const std::vector<bool>& has_errors) {
  const EstimateLayout layout(estimate);
  ErrorsOfEstimate out;
  out.basis = errors.head(layout.prior).reshaped(layout.channels, layout.columns);
  Index at = layout.prior;
  const auto add = [&](const Parameters& parameters) {
    for (const Parameter& parameter : parameters) {
      if (parameter.value.size() > 0 && learned[at]) {
        const auto values = errors.segment(at, parameter.value.size());
        out.parameters.push_back({parameter.name, values});
      }
      at += parameter.value.size();
    }
  };
  add(estimate.prior.parameters());
  add(estimate.law.parameters());
  for (std::size_t p = 0; p < has_errors.size(); ++p) {
    const Matrix& profile = estimate.season.profiles()[p];
    const auto own = errors.segment(at, profile.size());
    out.profiles.push_back(has_errors[p] ? Matrix(own.reshaped(profile.rows(), profile.cols()))
                                         : Matrix());
    at += profile.size();
  }
  return out;
}

Index blocks_to_draw(const Estimate& estimate) {
  return std::max(kFewestDrawn, kDrawnForEach * largest_group(estimate));
}

// So many observations of equal weight have told each number. Profiles have clocks of their own.
Vector worth_of_each(const Estimate& estimate, const FittedStatistics& fitted) {
  const EstimateLayout layout(estimate);
  Vector worth = Vector::Constant(layout.size, fitted.observations);
  Index at = layout.profiles;
  for (const PhaseSums& sums : fitted.mean.phases) {
    const auto period = static_cast<double>(sums.visits.size());
    worth.segment(at, sums.counts.size()) = Vector::Constant(
        sums.counts.size(), period * worth_of_visits(sums.visits.sum() / period, sums.recency));
    at += sums.counts.size();
  }
  return worth;
}

// The basis is looked at in logarithms, which make entries of all sizes alike.
Vector unit_of_each(const Estimate& estimate) {
  Vector units = numbers_of(estimate);
  units.tail(units.size() - estimate.basis.size()).setOnes();
  return (units.array() > 0).select(units, 1);
}

bool has_variance(const Matrix& rows, Index column) { return rows.col(column).squaredNorm() > 0; }

// What the stream has said, one row for each batch.
struct StreamSeries {
  Matrix moves;
  Matrix wandering;
  double observations;

  void divide_by(const Vector& units) {
    moves = moves * units.cwiseInverse().asDiagonal();
    wandering = wandering * units.cwiseInverse().asDiagonal();
  }
  void rotate(const ProfileCoordinates& coordinates) {
    coordinates.rotate(moves);
    coordinates.rotate(wandering);
  }
  bool varies(Index column) const { return has_variance(moves, column); }
};

StreamSeries series_of_stream(const Estimate& estimate, const FittedStatistics& fitted) {
  StreamSeries series{
      moves_of(MStepSlope(fitted.m_step, fitted.working, fitted.mean), fitted.batches),
      wandering_of(numbers_of(estimate), fitted.batches), 0};
  for (const BlockStatistics::Batch& batch : fitted.batches) {
    series.observations += static_cast<double>(batch.observations);
  }
  return series;
}

// What each run over the drawn observations has said, one row for each batch.
struct DrawnSeries {
  std::vector<Matrix> moves;
  std::vector<Matrix> scores;
  double observations;
  Index lags = 0;
  double products = 0;  // that are independent, for the covariance of moves and scores

  void divide_by(const Vector& units) {
    for (Matrix& rows : moves) rows = rows * units.cwiseInverse().asDiagonal();
    for (Matrix& rows : scores) rows = rows * units.asDiagonal();
  }
  void rotate(const ProfileCoordinates& coordinates) {
    for (Matrix& rows : moves) coordinates.rotate(rows);
    for (Matrix& rows : scores) coordinates.rotate(rows);
  }
  bool varies(Index column) const {
    const auto own = [&](const Matrix& rows) { return has_variance(rows, column); };
    return std::ranges::all_of(moves, own) && std::ranges::all_of(scores, own);
  }
  void choose_lags(const std::vector<bool>& active) {
    std::vector<Index> places;
    for (Index i = 0; i < std::ssize(active); ++i) {
      if (active[i]) places.push_back(i);
    }
    lags = long_run_lags(chosen_columns(scores.front(), places));
    products = long_run_degrees_of_freedom(scores.front().rows(), lags);
  }
};

DrawnSeries series_of_drawn(const Estimate& estimate, const FittedStatistics& fitted,
                            const Drawn& drawn, const PriorScores& of_prior,
                            const MakeEngineOfRun& make_engine, int runs) {
  DrawnSeries series{{}, {}, static_cast<double>(drawn.record.size())};
  for (int i = 0; i < runs; ++i) {
    Run run = run_over(*make_engine(estimate, i), drawn.record);
    // How much phases are drawn to each other depends on how many visits there were to them.
    run.mean.phases = fitted.mean.phases;
    series.moves.push_back(moves_of(MStepSlope(fitted.m_step, estimate, run.mean), run.batches));
    series.scores.push_back(scores_of(estimate, run.mean, run.batches));
    add_prior_scores(of_prior, EstimateLayout(estimate), run.batches, series.scores.back());
  }
  return series;
}

// The one-sided errors of the entries of the basis that are about zero; 0 for the others.
Vector errors_of_zeros(const Estimate& estimate, const FittedStatistics& fitted, const Matrix& x) {
  const Estimate& working = fitted.working;
  Vector errors = Vector::Zero(estimate.basis.size());
  const Vector scales = working.prior.has_scale() ? working.prior.scale() : Vector();
  for (Index k = 0; k < estimate.basis.cols(); ++k) {
    for (Index m = 0; m < estimate.basis.rows(); ++m) {
      const double exposure =
          fitted.mean.exposure(m, k) / (k < scales.size() ? scales[k] : 1) * fitted.observations;
      if (!(exposure > 0) || estimate.basis(m, k) * exposure > kLeastCounts) continue;
      errors[m + k * estimate.basis.rows()] =
          error_of_zero(estimate, x, m, k, 1 / exposure) / std::sqrt(fitted.observations);
    }
  }
  return errors;
}

// The roots of the variances of an observation's influence on each number of a group.
struct GroupErrors {
  std::vector<Index> places;
  Vector robust;
  Vector plain;
};

GroupErrors errors_of_group(const StreamSeries& stream, const DrawnSeries& model,
                            const std::vector<Index>& group,
                            const ProfileCoordinates& coordinates) {
  const auto own = [&](const Matrix& rows) { return chosen_columns(rows, group); };
  Matrix bread = Matrix::Zero(std::ssize(group), std::ssize(group));
  for (std::size_t run = 0; run < model.moves.size(); ++run) {
    // Of two runs, the scores of the other one.
    const Matrix& scores = model.scores[model.scores.size() - 1 - run];
    bread += long_run_covariance(own(model.moves[run]), own(scores), model.lags);
  }
  bread /= model.observations * static_cast<double>(model.moves.size());
  const Eigen::PartialPivLU<Matrix> inverse(bread);
  const auto influence_of = [&](const Matrix& moves) {
    return Matrix(inverse.solve(moves.transpose()).transpose());
  };
  const auto on_gains = [&](const Matrix& influence) {
    return coordinates.rotated_back(influence, group);
  };
  const auto errors_from = [](const Matrix& influence, Index lags, double observations) {
    return Vector((long_run_variances(influence, lags) / observations).array().max(0.0).sqrt());
  };
  const Matrix away = own(stream.wandering);
  const Matrix influence = on_gains(influence_of(own(stream.moves) - away) + away);
  const Matrix of_drawn = on_gains(influence_of(own(model.moves.front())));
  const double n = model.products;
  const auto p = static_cast<double>(group.size());
  return {coordinates.places_after(group),
          errors_from(influence, long_run_lags(influence), stream.observations) /
              std::sqrt(inflation(n, p)),
          errors_from(of_drawn, model.lags, model.observations) / std::sqrt(n / (n - p - 1))};
}

}  // namespace

std::optional<StandardErrors> standard_errors(const Estimate& estimate,
                                              const FittedStatistics& fitted,
                                              const MakeEngineOfRun& make_engine,
                                              const StandardErrorOptions& options) {
  if (std::ssize(fitted.batches) < kFewestOfStream) return std::nullopt;
  const EstimateLayout layout(estimate);
  const Drawn drawn = draw(estimate, kDrawnBlock * blocks_to_draw(estimate), options.seed);
  const PriorScores of_prior = prior_scores(estimate.prior, drawn.states);
  StreamSeries stream = series_of_stream(estimate, fitted);
  DrawnSeries model = series_of_drawn(estimate, fitted, drawn, of_prior, make_engine,
                                      options.engine_is_random ? 2 : 1);

  const std::vector<bool> learned =
      learned_numbers(estimate, fitted.m_step.options(), of_prior.columns);
  const Vector of_zeros = errors_of_zeros(estimate, fitted, activations_of(estimate, drawn));
  const Vector units = unit_of_each(estimate);
  stream.divide_by(units);
  model.divide_by(units);
  const ProfileCoordinates coordinates(estimate);
  stream.rotate(coordinates);
  model.rotate(coordinates);
  std::vector<bool> active = learned;
  for (Index i = 0; i < layout.size; ++i) {
    const bool is_zero = i < layout.prior && of_zeros[i] > 0;
    active[i] = learned[i] && !is_zero && stream.varies(i) && model.varies(i);
  }
  model.choose_lags(active);
  const bool is_full =
      layout.size <= kMostTogether &&
      model.products >= kProductsForEach * static_cast<double>(std::ranges::count(active, true));

  Vector robust = Vector::Zero(layout.size);
  Vector plain = Vector::Zero(layout.size);
  for (Index i = 0; i < layout.prior; ++i) {
    if (learned[i]) robust[i] = plain[i] = of_zeros[i];
  }
  const Vector worth = worth_of_each(estimate, fitted);
  std::vector<bool> has_errors(estimate.season.profiles().size(), false);
  for (const std::vector<Index>& group : groups_of(estimate, active, is_full)) {
    if (model.products < kProductsForEach * static_cast<double>(group.size())) continue;
    const GroupErrors errors = errors_of_group(stream, model, group, coordinates);
    for (Index j = 0; j < std::ssize(errors.places); ++j) {
      const Index place = errors.places[static_cast<std::size_t>(j)];
      robust[place] = units[place] * errors.robust[j] / std::sqrt(worth[place]);
      plain[place] = units[place] * errors.plain[j] / std::sqrt(worth[place]);
      if (place >= layout.profiles) has_errors[layout.profile_of(place, estimate)] = true;
    }
  }
  return StandardErrors{errors_of(estimate, robust, learned, has_errors),
                        errors_of(estimate, plain, learned, has_errors), is_full};
}

}  // namespace headwater
