#include "headwater/session/surprise.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "headwater/random/distributions.hpp"

namespace headwater {

namespace {

constexpr Index kMeasuring = 128;
constexpr Index kRanked = 199;
constexpr double kUnseenCount = std::numeric_limits<double>::quiet_NaN();

}  // namespace

double tail_probability(double surprise, std::vector<double>& draws, double tie) {
  std::ranges::sort(draws, std::greater{});
  const auto all = static_cast<double>(draws.size() + 1);
  const std::size_t border = draws.size() / 10;  // so many draws lie above draws[border]
  double excesses = 0;
  for (std::size_t i = 0; i < border; ++i) excesses += draws[i] - draws[border];
  const double excess = surprise - draws[border];
  if (excess > 0 && excesses > 0 && std::isfinite(excess) && std::isfinite(excesses)) {
    const auto k = static_cast<double>(border);
    return (k + 1) / all * std::pow(1 + excess / excesses, -k);
  }
  const auto [first, last] = std::equal_range(draws.begin(), draws.end(), surprise, std::greater{});
  return (static_cast<double>(first - draws.begin()) +
          tie * (1 + static_cast<double>(last - first))) /
         all;
}

// Counts of the channels that were seen; the others are as missing as in y.
void TailProbability::draw_counts(Generator& generator, const Eigen::Ref<const Vector>& x,
                                  const Matrix& basis, Observation y) {
  counts_.resize(y.size());
  for (Index m = 0; m < basis.rows(); ++m) {
    const double exposure = y.exposure(m);
    counts_[m] = exposure > 0 ? poisson(generator, exposure * basis.row(m).dot(x.transpose()))
                              : kUnseenCount;
  }
}

double TailProbability::surprise(Observation y, const Matrix& basis) {
  seen_.look_at(y, basis, column_sums_);
  log_likelihoods(activations_.topRows(kMeasuring), seen_, log_likelihoods_);
  const double largest = *std::ranges::max_element(log_likelihoods_);
  if (largest == -std::numeric_limits<double>::infinity()) return -largest;
  double sum = 0;
  for (const double value : log_likelihoods_) sum += std::exp(value - largest);
  return -(largest + std::log(sum) + log_base_measure(y));
}

double TailProbability::operator()(const Engine& engine, Observation y, std::int64_t t) {
  const Matrix& basis = engine.basis();
  const auto time = static_cast<std::uint64_t>(t);
  Generator generator = random_.at(time, 0, Purpose::surprise);
  activations_.resize(kMeasuring + kRanked, basis.cols());
  engine.sample_predicted(generator, activations_);
  column_sums_ = basis.colwise().sum();
  log_likelihoods_.resize(kMeasuring);
  draws_.clear();
  for (Index i = 0; i < kRanked; ++i) {
    draw_counts(generator, activations_.row(kMeasuring + i).transpose(), basis, y);
    draws_.push_back(surprise({counts_, y.exposures()}, basis));
  }
  return tail_probability(surprise(y, basis), draws_, generator.uniform());
}

}  // namespace headwater
