// How surprising the total of a row is, and which of its channels are the most surprising.
#include <algorithm>
#include <cmath>

#include "headwater/emission/count_tails.hpp"
#include "headwater/session/mixed_tails.hpp"
#include "headwater/surprise.hpp"

namespace headwater {

namespace {

// Channels whose own tail probability is computed: those of the largest standardised distances.
constexpr std::size_t kCandidates = 16;

}  // namespace

void SurpriseMeter::measure_total(const Prediction& prediction, Generator& generator) {
  const PredictedActivations& x = prediction.activations;
  const Matrix& basis = prediction.emission->basis();
  Vector slopes = Vector::Zero(basis.rows());  // of the expected total in the intensities
  VarianceFunction variance{0, 0, 0};
  double excess = 0;  // of the variance over the mean, beyond hurdles
  double at_means = 0;
  bool has_hurdles = false;
  for (std::size_t j = 0; j < cells_.size(); ++j) {
    const Cell& cell = cells_[j];
    const auto i = static_cast<Index>(j);
    const double mean = means_[i];
    const double expected = cell.variance.mean_count(mean);
    slopes[cell.channel] = cell.exposure * cell.variance.slope_of_mean(mean);
    surprise_.expected_total += expected_count(prediction, i);
    surprise_.seen_total += cell.count;
    at_means += expected;
    variance.constant += cell.variance.constant;
    variance.linear += cell.variance.linear * expected;
    if (cell.variance.has_hurdle()) {
      has_hurdles = true;
      excess += cell.variance.variance_of_count(mean) - expected;
    } else {
      variance.quadratic += cell.variance.quadratic * mean * mean;
    }
  }
  // A sum that scatters less than a Poisson count is taken for one.
  variance.quadratic += std::max(0.0, excess);
  if (at_means > 0) {
    // As functions of the sum, up to the rounding of means that were multiplied.
    variance.linear /= at_means;
    if (std::abs(variance.linear - 1) < 1e-9) variance.linear = 1;
    variance.quadratic /= at_means * at_means;
  }
  const Vector sums = basis.transpose() * slopes;
  const double seen = surprise_.seen_total;
  const CountTails tails =
      x.has_points()
          ? mixed_tails(variance, seen,
                        has_hurdles ? totals_at_points(x, basis) : Vector(x.points * sums),
                        x.weights)
          : mixed_tails(
                variance, seen, at_means,
                sums.head(activation_variances_.size()).cwiseAbs2().dot(activation_variances_),
                x.is_logarithmic);
  surprise_.p_total = std::min(1.0, 2 * tails.smaller_side(generator.uniform()));
}

Vector SurpriseMeter::totals_at_points(const PredictedActivations& x, const Matrix& basis) const {
  Vector totals = Vector::Zero(x.points.rows());
  for (const Cell& cell : cells_) {
    const Vector means = x.points * (cell.exposure * basis.row(cell.channel).transpose());
    totals += means.unaryExpr([&](double mean) { return cell.variance.mean_count(mean); });
  }
  return totals;
}

// Beyond a hurdle: over the points, or for a gamma law of the intensity.
double SurpriseMeter::expected_count(const Prediction& prediction, Index cell) const {
  const Cell& own = cells_[static_cast<std::size_t>(cell)];
  const double mean = means_[cell];
  if (!own.variance.has_hurdle()) return mean;
  const PredictedActivations& x = prediction.activations;
  if (!x.has_points()) {
    return own.variance.mean_count(mean, mean > 0 ? mixing_[cell] / (mean * mean) : 0);
  }
  const auto row = own.exposure * prediction.emission->basis().row(own.channel).transpose();
  const Vector means = x.points * row;
  return x.weights.dot(means.unaryExpr([&](double mu) { return own.variance.mean_count(mu); }));
}

void SurpriseMeter::list_channels(const Prediction& prediction) {
  const PredictedActivations& x = prediction.activations;
  const auto distance = [&](std::size_t j) {
    const auto i = static_cast<Index>(j);
    const VarianceFunction& law = cells_[j].variance;
    const double slope = law.slope_of_mean(means_[i]);
    const double spread = law.variance_of_count(means_[i]) + slope * slope * mixing_[i];
    const double away = cells_[j].count - law.mean_count(means_[i]);
    return away * away / (spread > 0 ? spread : 1e-12);
  };
  order_.resize(cells_.size());
  distances_.resize(cells_.size());
  for (std::size_t j = 0; j < order_.size(); ++j) {
    order_[j] = j;
    distances_[j] = distance(j);
  }
  const auto end =
      order_.begin() + static_cast<std::ptrdiff_t>(std::min(kCandidates, order_.size()));
  std::ranges::partial_sort(order_, end, [&](std::size_t a, std::size_t b) {
    return distances_[a] != distances_[b] ? distances_[a] > distances_[b] : a < b;
  });
  for (auto at = order_.begin(); at != end; ++at) {
    const Cell& cell = cells_[*at];
    const auto j = static_cast<Index>(*at);
    if (x.has_points()) {
      row_ = cell.exposure * prediction.emission->basis().row(cell.channel).transpose();
      set_intensities(x.points, x.points.rows());
    }
    const CountTails tails =
        x.has_points()
            ? mixed_tails(cell.variance, cell.count, intensities_, x.weights)
            : mixed_tails(cell.variance, cell.count, means_[j], mixing_[j], x.is_logarithmic);
    surprise_.channels.push_back(
        {cell.channel, expected_count(prediction, j), cell.count, tails.two_sided()});
  }
  std::ranges::stable_sort(surprise_.channels, {}, &CellSurprise::p);
  if (std::ssize(surprise_.channels) > kListed) surprise_.channels.resize(kListed);
}

}  // namespace headwater
