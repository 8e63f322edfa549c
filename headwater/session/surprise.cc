#include "headwater/surprise.hpp"

#include <Eigen/Cholesky>

#include <algorithm>
#include <array>
#include <cmath>

#include "headwater/core/tails.hpp"
#include "headwater/emission/count_tails.hpp"
#include "headwater/emission/negative_binomial_terms.hpp"
#include "headwater/kernels/weighted_columns.hpp"
#include "headwater/session/mixed_tails.hpp"

namespace headwater {

namespace {

// Scores beyond this are all the same.
constexpr double kLeastTail = 1e-300;
// Channels of smaller means are scored together, until the mean of their sum is as large. A row of
// rare counts then says what it can, and no more.
constexpr double kRareMean = 1;
constexpr double kRarePresence = 0.2;
// So many points must be left where a row has told what it can.
constexpr double kFewestPoints = 32;
// The best activations are good enough if the sum of squares is by this times the square root of
// the number of channels, which is less than its standard deviation.
constexpr double kSettled = 1e-2;
constexpr int kMostSteps = 8;
// Points of less weight are left out.
constexpr double kRuledOut = 1e-8;

bool counts_events(const VarianceFunction& f) { return f.constant == 0 && f.linear == 1; }

// Whether a count of this intensity is scored together with others: as long as their sum is nearly
// negative binomial. A sum of zeros and ones is so only if the ones are rare.
bool is_rare(const VarianceFunction& f, double mean) {
  return counts_events(f) && mean < (f.has_hurdle() ? kRarePresence : kRareMean);
}

// How far a count is from its expectation, for the slope of the log-likelihood. Beyond a hurdle
// only one count tells about the intensity.
struct Apart {
  double count;
  double variance;
  double slope;  // of the expectation in the intensity
};

Apart apart(VarianceFunction f, double count, double mean) {
  if (f.has_hurdle()) {
    f.excess = 0;
    count = std::min(count, 1.0);
  }
  return {count - f.mean_count(mean), f.variance_of_count(mean), f.slope_of_mean(mean)};
}

}  // namespace

const RowSurprise& SurpriseMeter::operator()(const Prediction& prediction,
                                             const Observation& seen) {
  given_ = seen;
  if (prediction.levels.any()) given_.set_levels(prediction.levels);
  surprise_ = {};
  sum_of_squares_ = degrees_ = num_tests_ = 0;
  smallest_ = 0.5;
  log_silences_.setZero(given_.num_channels());
  silent_means_.setZero(given_.num_channels());
  list_cells(prediction);
  if (cells_.empty()) return surprise_;
  set_means(prediction);
  Generator generator =
      RandomStream(0).at(static_cast<std::uint64_t>(prediction.t), 0, Purpose::surprise);
  if (points_are_fine(prediction)) {
    score_one_after_another(prediction, generator);
  } else {
    find_best(prediction);
    score_given_best(prediction, generator);
    if (prediction.activations.has_moments()) score_activations(prediction.activations);
  }
  surprise_.p_row = gamma_tail(degrees_ / 2, sum_of_squares_ / 2);
  const double both_sides = std::min(1.0, 2 * smallest_);
  surprise_.p_channels = both_sides < 1 ? -std::expm1(num_tests_ * std::log1p(-both_sides)) : 1;
  measure_total(prediction, generator);
  list_channels(prediction);
  return surprise_;
}

void SurpriseMeter::list_cells(const Prediction& prediction) {
  cells_.clear();
  const AnyLaw& law = prediction.emission->law();
  const std::span<const double> dispersions = given_.dispersions();
  for_each_seen(given_, [&](Index m, double count, double exposure) {
    VarianceFunction variance = law->variance(m);
    if (!dispersions.empty()) variance.quadratic = dispersions[static_cast<std::size_t>(m)];
    cells_.push_back({m, count, exposure, variance});
  });
}

void SurpriseMeter::set_means(const Prediction& prediction) {
  const PredictedActivations& x = prediction.activations;
  const Matrix& basis = prediction.emission->basis();
  activation_variances_.resize(0);
  if (x.has_points()) activation_means_ = x.points.transpose() * x.weights;
  if (x.has_moments()) {
    if (!x.has_points()) {
      activation_means_.setOnes(basis.cols());
      activation_means_.head(x.means.size()) =
          x.is_logarithmic ? (x.means + x.variances / 2).array().exp().matrix() : x.means;
    }
    activation_variances_ = activation_variances(x, activation_means_);
  }
  intensities_.noalias() = basis * activation_means_;
  Vector mixing = Vector::Zero(basis.rows());
  if (activation_variances_.size() > 0) {
    mixing.noalias() =
        basis.leftCols(activation_variances_.size()).cwiseAbs2() * activation_variances_;
  }
  const auto size = static_cast<Index>(cells_.size());
  means_.resize(size);
  mixing_.resize(size);
  for (Index j = 0; j < size; ++j) {
    const Cell& cell = cells_[static_cast<std::size_t>(j)];
    means_[j] = cell.exposure * intensities_[cell.channel];
    mixing_[j] = cell.exposure * cell.exposure * mixing[cell.channel];
  }
}

// With V_k the variance of x_k and G_k the information of the row on it, the row narrows the law of
// x_k by the factor (1 + V_k G_k)^(1/2).
bool SurpriseMeter::points_are_fine(const Prediction& prediction) {
  const PredictedActivations& x = prediction.activations;
  if (!x.has_points()) return false;
  if (x.are_whole) return true;
  if (!x.has_moments()) return false;
  const Matrix& basis = prediction.emission->basis();
  Vector of_channels = Vector::Zero(basis.rows());
  for (std::size_t j = 0; j < cells_.size(); ++j) {
    const Apart cell = apart(cells_[j].variance, cells_[j].count, means_[static_cast<Index>(j)]);
    if (!(cell.variance > 0)) continue;
    const double slope = cells_[j].exposure * cell.slope;
    of_channels[cells_[j].channel] = slope * slope / cell.variance;
  }
  const Vector information =
      basis.leftCols(activation_variances_.size()).cwiseAbs2().transpose() * of_channels;
  const double log_narrowing =
      (1 + information.array() * activation_variances_.array()).log().sum() / 2;
  return std::log(static_cast<double>(x.weights.size()) / kFewestPoints) >= log_narrowing;
}

void SurpriseMeter::add_score(double tail) {
  const double z = normal_quantile(std::clamp(tail, kLeastTail, 0.5));
  sum_of_squares_ += z * z;
  ++degrees_;
}

void SurpriseMeter::note_channel(double tail) { smallest_ = std::min(smallest_, tail); }

// Points that a row has ruled out are left behind, so that the channels after the first few cost
// little.
void SurpriseMeter::score_one_after_another(const Prediction& prediction, Generator& generator) {
  const Matrix& basis = prediction.emission->basis();
  points_ = prediction.activations.points;
  weights_ = prediction.activations.weights;
  Index size = weights_.size();
  for (const Cell& cell : cells_) {
    row_ = cell.exposure * basis.row(cell.channel).transpose();
    set_intensities(points_, size);
    const auto weights = weights_.head(size);
    const CountTails tails =
        mixed_tails(cell.variance, cell.count, intensities_, weights, &likelihoods_);
    if (cell.count == 0) {
      log_silences_[cell.channel] = -std::log(std::max(tails.at, kLeastTail));
      silent_means_[cell.channel] = mean_count_of_points(cell.variance, weights);
    }
    const double tail = tails.smaller_side(generator.uniform());
    add_score(tail);
    note_channel(tail);
    ++num_tests_;
    size = weigh_points(size);
  }
}

// intensities_ = points row_, of the first `size` points.
void SurpriseMeter::set_intensities(const Matrix& points, Index size) {
  columns_.clear();
  for (Index k = 0; k < points.cols(); ++k) columns_.push_back(points.col(k).data());
  intensities_.setZero(size);
  add_weighted_columns(columns_, as_span(row_), as_span(intensities_));
}

double SurpriseMeter::mean_count_of_points(const VarianceFunction& law,
                                           const Eigen::Ref<const Vector>& weights) const {
  if (!law.has_hurdle()) return weights.dot(intensities_);
  return weights.dot(intensities_.unaryExpr([&](double mean) { return law.mean_count(mean); }));
}

// Takes the likelihoods of a cell into the weights of the first `size` points. Those that it rules
// out have no weight from then on. Returns the number of points that are left: they are moved
// together once enough of them are ruled out.
Index SurpriseMeter::weigh_points(Index size) {
  auto weights = weights_.head(size);
  likelihoods_.array() *= weights.array();
  const double least = kRuledOut * likelihoods_.sum();
  if (!(least > 0)) return size;  // no point explains the count
  Index left = 0;
  for (Index i = 0; i < size; ++i) {
    const bool is_kept = likelihoods_[i] >= least;
    weights[i] = is_kept ? likelihoods_[i] : 0;
    left += is_kept ? 1 : 0;
  }
  weights *= 1 / weights.sum();
  if (4 * left > 3 * size) return size;  // not worth it
  kept_.clear();
  for (Index i = 0; i < size; ++i) {
    if (weights[i] > 0) kept_.push_back(i);
  }
  const auto move_together = [&](double* numbers) {
    for (std::size_t j = 0; j < kept_.size(); ++j) numbers[j] = numbers[kept_[j]];
  };
  move_together(weights_.data());
  for (Index k = 0; k < points_.cols(); ++k) move_together(points_.col(k).data());
  return std::ssize(kept_);
}

// Rare counts are scored together: their sum is taken to be negative binomial, and Poisson's if it
// scatters less.
void SurpriseMeter::score_given_best(const Prediction& prediction, Generator& generator) {
  struct {
    double count = 0;
    double mean = 0;
    double excess = 0;  // of the variance over the mean
  } rare;
  const auto score_rare = [&] {
    if (rare.mean > 0 || rare.count > 0) {
      const double phi = rare.mean > 0 ? std::max(0.0, rare.excess) / (rare.mean * rare.mean) : 0;
      add_score(
          negative_binomial_tails(rare.count, rare.mean, phi).smaller_side(generator.uniform()));
    }
    rare = {};
  };
  intensities_.noalias() = prediction.emission->basis() * best_;
  for (const Cell& cell : cells_) {
    const double mean = cell.exposure * intensities_[cell.channel];
    const bool is_count = counts_events(cell.variance);
    const double expected = cell.variance.mean_count(mean);
    if (is_count && cell.count == 0) {
      log_silences_[cell.channel] = negative_binomial::softened(mean, cell.variance.quadratic);
      silent_means_[cell.channel] = expected;
    }
    if (is_rare(cell.variance, mean)) {
      rare.count += cell.count;
      rare.mean += expected;
      rare.excess += cell.variance.variance_of_count(mean) - expected;
      if (rare.mean >= kRareMean) score_rare();
      // Too few counts are no surprise here: a test of one side.
      const CountTails tails = tails_by_variance(cell.variance, cell.count, mean);
      note_channel(tails.above + generator.uniform() * tails.at);
      num_tests_ += 0.5;
      continue;
    }
    const double tail =
        tails_by_variance(cell.variance, cell.count, mean).smaller_side(generator.uniform());
    add_score(tail);
    note_channel(tail);
    ++num_tests_;
  }
  score_rare();
}

// Scoring steps for log x from where the engine has left it, until they would hardly change the sum
// of squares. The engine's approximation of the law need not be at its best.
void SurpriseMeter::find_best(const Prediction& prediction) {
  const PredictedActivations& x = prediction.activations;
  const Matrix& basis = prediction.emission->basis();
  best_ = x.filtered;
  if (!x.has_moments()) return;
  const Index components = x.means.size();
  const double settled = kSettled * std::sqrt(static_cast<double>(cells_.size()));
  for (int step = 0; step < kMostSteps; ++step) {
    intensities_.noalias() = basis * best_;
    Vector slopes = Vector::Zero(basis.rows());
    Vector informations = Vector::Zero(basis.rows());
    for (const Cell& cell : cells_) {
      const double mean = cell.exposure * intensities_[cell.channel];
      const Apart seen = apart(cell.variance, cell.count, mean);
      if (!(seen.variance > 0)) continue;
      const double slope = cell.exposure * seen.slope;
      slopes[cell.channel] = slope * seen.count / seen.variance;
      informations[cell.channel] = slope * slope / seen.variance;
    }
    const auto now = best_.head(components).array();
    Vector gradient = basis.leftCols(components).transpose() * slopes;
    Vector precision = basis.leftCols(components).cwiseAbs2().transpose() * informations;
    gradient.array() *= now;
    precision.array() *= now.square();
    Vector of_prior;  // its own precision
    if (x.is_logarithmic) {
      gradient.array() -= (now.log() - x.means.array()) / x.variances.array();
      of_prior = x.variances.cwiseInverse();
    } else {
      const Eigen::ArrayXd rate = x.means.array() / x.variances.array();
      gradient.array() += rate * (x.means.array() - now);
      of_prior = rate * now;
    }
    precision += of_prior;
    if (!(gradient.cwiseAbs2().cwiseQuotient(precision).sum() > settled)) return;
    const Matrix rows = informations.cwiseSqrt().asDiagonal() * basis.leftCols(components) *
                        best_.head(components).asDiagonal();
    Matrix whole = of_prior.asDiagonal();
    whole.selfadjointView<Eigen::Lower>().rankUpdate(rows.transpose());
    const Vector move = whole.selfadjointView<Eigen::Lower>().llt().solve(gradient);
    if (!move.allFinite()) return;
    best_.head(components).array() *= move.array().max(-1).min(1).exp();
  }
}

// They take no degree of freedom: they were chosen to make the other scores small.
void SurpriseMeter::score_activations(const PredictedActivations& x) {
  const double degrees = degrees_;
  for (Index k = 0; k < x.means.size(); ++k) {
    if (!(x.variances[k] > 0)) continue;
    if (x.is_logarithmic) {
      const double z = (std::log(best_[k]) - x.means[k]) / std::sqrt(x.variances[k]);
      sum_of_squares_ += z * z;
    } else {
      const double rate = x.means[k] / x.variances[k];
      const double above = gamma_tail(x.means[k] * rate, best_[k] * rate);
      add_score(std::min(above, 1 - above));
    }
  }
  degrees_ = degrees;
}

}  // namespace headwater
