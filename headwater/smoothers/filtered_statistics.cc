#include "headwater/smoothers/filtered_statistics.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "headwater/core/state_checks.hpp"
#include "headwater/emission/plain_sums.hpp"
#include "headwater/kernels/weighted_columns.hpp"
#include "headwater/parallel/ranks.hpp"

namespace headwater {

namespace {

// A row of the basis, contiguous in memory.
Eigen::Map<const Vector> row_of(const Emission& emission, Index channel) {
  return {emission.rows().row(channel), emission.num_columns()};
}

bool has_season(const FastFilter& filter) { return !filter.emission().season().empty(); }

}  // namespace

FilteredStatistics::FilteredStatistics(const FastFilter& filter, const WindowOptions& options,
                                       bool with_moves)
    : options_(options),
      block_(window_block(options, 0)),
      statistics_(
          statistics_for(filter.emission(), with_moves ? filter.prior().num_statistics() : 0)),
      sums_(filter.emission().sums()) {}

bool FilteredStatistics::advance(const FastFilter& filter, const Observation& y, double step_size) {
  step_sizes_.push_back(step_size);
  remember(filter, y);
  if (num_steps_ < block_) return false;
  fold(filter);
  block_ = window_block(options_, statistics_.observations);
  return true;
}

bool FilteredStatistics::finish(const FastFilter& filter) {
  if (num_steps_ == 0) return false;
  fold(filter);
  return true;
}

void FilteredStatistics::exchange(StateArchive& archive, const FastFilter& filter) {
  archive(block_, statistics_, step_sizes_, cells_, unseen_);
  exchange_first(archive, steps_, num_steps_);
  if (!archive.is_reading()) return;
  archive.expect(is_window_length(block_) && block_ > 0, "a block of invalid length");
  const auto is_in_block = [&](const Cell& cell) {
    return cell.channel >= 0 && cell.channel < statistics_.s2.rows() && cell.time >= 0 &&
           cell.time < num_steps_;
  };
  archive.expect(
      std::ranges::all_of(cells_, is_in_block) && std::ranges::all_of(unseen_, is_in_block),
      "cells of no observation");
  archive.expect(static_cast<Index>(step_sizes_.size()) == num_steps_ &&
                     std::ranges::all_of(step_sizes_, is_step_size),
                 "step sizes of no observation");
  for (Index t = 0; t < num_steps_; ++t) {
    archive.expect(steps_[static_cast<std::size_t>(t)].fits(filter), "a step of the wrong size");
  }
}

bool FilteredStatistics::Step::fits(const FastFilter& filter) const {
  const Index columns = filter.emission().num_columns();
  const Index components = filter.prior().num_components();
  const auto is_right = [&](const Vector& values) { return values.size() == components; };
  const bool moves_fit = !has_moves || (is_right(moves.before) && is_right(moves.after) &&
                                        is_right(moves.before_square) &&
                                        is_right(moves.after_square) && is_right(moves.product) &&
                                        (moves.log_after.size() == 0 || is_right(moves.log_after)));
  const bool has_points = is_corrected || has_season(filter);
  const bool points_fit = (is_corrected || is_right(variance)) &&
                          (!has_points || (points.cols() == columns && points.rows() > 0 &&
                                           points.rows() == weights.size()));
  return activation.size() == columns && moves_fit && points_fit &&
         observation.num_channels() == filter.emission().num_channels();
}

void FilteredStatistics::remember(const FastFilter& filter, const Observation& y) {
  if (num_steps_ == static_cast<Index>(steps_.size())) steps_.emplace_back();
  const Index time = num_steps_++;
  Step& step = steps_[static_cast<std::size_t>(time)];
  const Matrix& points = filter.points();
  step.activation.noalias() = points.transpose() * filter.weights();
  step.has_moves = filter.has_moved() && statistics_.s3.size() > 0;
  if (step.has_moves) filter.expect_moves(step.moves);
  step.observation = y;
  step.is_corrected = points.rows() > 1;
  if (!step.is_corrected) filter.write_activation_variance(step.variance);
  step.is_quick =
      !step.is_corrected && !has_season(filter) && sums_->is_quick(filter.emission(), y);
  if (step.is_corrected || has_season(filter)) {
    step.points = points;
    step.weights = filter.weights();
  } else if (!step.is_quick) {
    const std::span<const Index> channels = filter.evidence().channels();
    const Index first = kept_rows(y.num_channels()).first;
    const Stretch kept = kept_part(channels, y.num_channels());
    for (std::size_t j = kept.first; j < kept.first + kept.size; ++j) {
      cells_.push_back({channels[j] - first, time, filter.forces().gains[j]});
    }
  }
  if (!has_season(filter) && !step.is_quick) remember_unseen(filter, y, time);
}

// Where losses depend on the activations, those of many points are added up with their counts.
void FilteredStatistics::remember_unseen(const FastFilter& filter, const Observation& y,
                                         Index time) {
  const bool is_plain = filter.emission().law()->has_plain_losses();
  const Step& step = steps_[static_cast<std::size_t>(time)];
  if (!is_plain && step.is_corrected) return;
  const Index first = kept_rows(y.num_channels()).first;
  const Stretch kept = kept_part(y.exposed(), y.num_channels());
  for (std::size_t j = kept.first; j < kept.first + kept.size; ++j) {
    const bool is_missing = y.exposures()[j] == 0;
    if (!is_plain && !is_missing) continue;
    unseen_.push_back({y.exposed()[j] - first, time, 1 - y.exposures()[j]});
  }
  if (is_plain) return;
  // Not from the filter's forces, which lack the losses of channels whose terms are linear.
  for_each_seen(y, [&](Index m, double count, double exposure) {
    const double intensity = row_of(filter.emission(), m).dot(step.activation);
    const CellForces forces = filter.emission().law()->forces_in(y, m, count, exposure, intensity);
    unseen_.push_back({m, time, 1 - forces.loss});
  });
}

void FilteredStatistics::fold(const FastFilter& filter) {
  coefficients_.resize(step_sizes_.size());
  enter_observations(step_sizes_, coefficients_, statistics_);
  for (Index t = 0; t < num_steps_; ++t) {
    const Step& step = steps_[static_cast<std::size_t>(t)];
    const double coefficient = coefficients_[static_cast<std::size_t>(t)];
    if (step.has_moves) {
      filter.prior().add_expected_statistics(step.moves, coefficient, as_span(statistics_.s3));
    }
    if (has_season(filter)) {
      add_with_season(step, coefficient, filter);
      continue;
    }
    statistics_.s1 += coefficient * step.activation;
    if (step.is_quick) add_quickly(step, coefficient, filter);
    if (!step.is_corrected) continue;
    scaled_weights_ = coefficient * step.weights;
    sums_->add_counts_of_one(step.points, filter.emission(), scaled_weights_, step.observation,
                             statistics_);
  }
  sums_->finish(filter.emission(), statistics_);
  add_counts(filter.emission().rows());
  add_unseen();
  add_law_statistics(filter);
  num_steps_ = 0;
  step_sizes_.clear();
  cells_.clear();
  unseen_.clear();
}

// As below, but not cell by cell. In place of a standard deviation above and below for each cell,
// points x + s sigma with signs s of which any two components are independent: the intensity of
// every channel has the same mean and variance.
void FilteredStatistics::add_quickly(const Step& step, double coefficient,
                                     const FastFilter& filter) {
  std::swap(statistics_.s4, without_law_statistics_);  // at the best activation: not wanted
  scaled_weights_.setConstant(1, coefficient);
  sums_->add_counts_of_one(step.activation.transpose(), filter.emission(), scaled_weights_,
                           step.observation, statistics_);
  std::swap(statistics_.s4, without_law_statistics_);
  if (statistics_.s4.size() == 0) return;
  const Index components = step.variance.size();
  const auto signs = static_cast<Index>(std::bit_ceil(static_cast<std::size_t>(components + 1)));
  around_.resize(2 * signs, step.activation.size());
  for (Index i = 0; i < signs; ++i) {
    for (const Index side : {0, 1}) around_.row(side * signs + i) = step.activation.transpose();
    for (Index k = 0; k < components; ++k) {
      // Rows of a Hadamard matrix.
      const auto common = static_cast<std::size_t>(i & (k + 1));
      const double sign = std::popcount(common) % 2 == 0 ? 1 : -1;
      const double away = sign * std::sqrt(step.variance[k]);
      around_(i, k) = std::max(around_(i, k) + away, 0.0);
      around_(signs + i, k) = std::max(around_(signs + i, k) - away, 0.0);
    }
  }
  scaled_weights_.setConstant(2 * signs, coefficient / static_cast<double>(2 * signs));
  sums_->add_law_statistics_of_one(around_, filter.emission(), scaled_weights_, step.observation,
                                   statistics_);
}

// add_law_statistics() is to add what the law wants of a step that one activation stands for.
void FilteredStatistics::add_with_season(const Step& step, double coefficient,
                                         const FastFilter& filter) {
  scaled_weights_ = coefficient * step.weights;
  const Vector law_statistics = statistics_.s4;
  sums_->add_one(step.points, filter.emission(), scaled_weights_, step.observation, statistics_);
  if (!step.is_corrected) statistics_.s4 = law_statistics;
}

// Of the steps that one activation stands for; the others have theirs already. A parameter such as
// the noise of a normal law would be found too small at the best activation alone, which fits the
// counts too well: each cell is taken a standard deviation of its intensity above and below, half
// each.
void FilteredStatistics::add_law_statistics(const FastFilter& filter) {
  if (statistics_.s4.size() == 0) return;
  for (Index t = 0; t < num_steps_; ++t) {
    const Step& step = steps_[static_cast<std::size_t>(t)];
    if (step.is_corrected || step.is_quick) continue;
    const Emission& emission = filter.emission().at(step.observation.position());
    const Index components = step.variance.size();
    const double half = coefficients_[static_cast<std::size_t>(t)] / 2;
    const BlockLaw& law = *emission.law();
    for_each_cell_of(law, step.observation, [&](Index m, double count, double exposure) {
      const auto row = row_of(emission, m);
      const double intensity = row.dot(step.activation);
      const double deviation = std::sqrt(row.head(components).cwiseAbs2().dot(step.variance));
      for (const double at : {intensity + deviation, std::max(intensity - deviation, 0.0)}) {
        law.add_statistics(m, count, exposure, at, half, as_span(statistics_.s4));
      }
    });
  }
}

// Cells are put in the order of their channels, by counting; then
//   s2(m, k) += B(m, k) sum_t coefficient_t gain_tm x_tk.
void FilteredStatistics::add_counts(const PaddedRows& basis) {
  if (cells_.empty()) return;
  begin_.assign(static_cast<std::size_t>(basis.rows()) + 1, 0);
  for (const Cell& cell : cells_) ++begin_[static_cast<std::size_t>(cell.channel) + 1];
  for (std::size_t m = 1; m < begin_.size(); ++m) begin_[m] += begin_[m - 1];
  ordered_.resize(cells_.size());
  for (std::size_t i = cells_.size(); i-- > 0;) {
    const Cell& cell = cells_[i];
    ordered_[--begin_[static_cast<std::size_t>(cell.channel) + 1]] = cell;
  }
  // begin_[m + 1] is now where channel m begins.
  const Index first = kept_rows(num_channels_of(basis.rows())).first;
  for (std::size_t at = 0; at < ordered_.size();) {
    const Index channel = ordered_[at].channel;
    columns_.clear();
    weights_.clear();
    for (; at < ordered_.size() && ordered_[at].channel == channel; ++at) {
      const auto time = static_cast<std::size_t>(ordered_[at].time);
      columns_.push_back(steps_[time].activation.data());
      weights_.push_back(coefficients_[time] * ordered_[at].value);
    }
    sum_.setZero(basis.cols());
    add_weighted_columns(columns_, weights_, as_span(sum_));
    const double* const row = basis.row(first + channel);
    for (Index k = 0; k < basis.cols(); ++k) statistics_.s2(channel, k) += row[k] * sum_[k];
  }
}

// Where ranks keep their own rows, all have `unseen` or none.
void FilteredStatistics::add_unseen() {
  const auto is_exposed = [](const Step& step) { return !step.observation.exposed().empty(); };
  const bool is_shared = SharedChannels::of_own_rows() != nullptr;
  if (unseen_.empty() &&
      !(is_shared && std::any_of(steps_.begin(), steps_.begin() + num_steps_, is_exposed))) {
    return;
  }
  if (statistics_.unseen.size() == 0) {
    statistics_.unseen.setZero(statistics_.s2.rows(), statistics_.s2.cols());
  }
  for (const Cell& cell : unseen_) {
    const auto time = static_cast<std::size_t>(cell.time);
    statistics_.unseen.row(cell.channel) +=
        cell.value * coefficients_[time] * steps_[time].activation.transpose();
  }
}

}  // namespace headwater
