#include "headwater/inference.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "headwater/emission/negative_binomial.hpp"
#include "headwater/engines/engine.hpp"

namespace headwater {

namespace {

// Draws of the activations that the surprise of an observation is measured under.
constexpr Index kMeasuring = 128;
// Draws of the observation that it is ranked among: ranks are multiples of 1/200.
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

// The draw's counts where y was seen, with the exposures of y; missing where y is.
void TailProbability::draw_counts(Generator& generator, Index row,
                                  const PredictiveDraws& prediction, const Observation& y) {
  const Matrix& basis = prediction.emission.basis();
  for (Index m = 0; m < basis.rows(); ++m) {
    const double exposure = exposures_[static_cast<std::size_t>(m)];
    if (exposure == 0) {
      counts_[static_cast<std::size_t>(m)] = kUnseenCount;
      continue;
    }
    const double mean = exposure * basis.row(m).dot(prediction.activations.row(row));
    counts_[static_cast<std::size_t>(m)] =
        y.dispersions().empty()
            ? prediction.emission.law()->draw(m, mean, generator)
            : NegativeBinomial(Vector::Constant(1, y.dispersions()[static_cast<std::size_t>(m)]))
                  .draw(0, mean, generator);
  }
  drawn_.assign(counts_, y.exposed().empty() ? std::span<const double>() : exposures_);
  drawn_.take_dispersions(y);
}

double TailProbability::surprise(const Observation& y, const PredictiveDraws& prediction) {
  prediction.emission.look_at(y, evidence_);
  evidence_.gather_rows();
  evidence_.log_likelihoods(prediction.activations.topRows(kMeasuring), log_likelihoods_);
  const double largest = *std::ranges::max_element(log_likelihoods_);
  if (largest == -std::numeric_limits<double>::infinity()) return -largest;
  double sum = 0;
  for (const double value : log_likelihoods_) sum += std::exp(value - largest);
  return -(largest + std::log(sum) + prediction.emission.log_base_measure(y));
}

PredictiveDraws draw_prediction(const Engine& engine, std::int64_t t, std::uint64_t seed) {
  Generator generator = RandomStream(seed).at(static_cast<std::uint64_t>(t), 0, Purpose::surprise);
  Matrix activations(kMeasuring + kRanked, engine.emission().num_columns());
  engine.sample_predicted(generator, activations);
  return {std::move(activations), engine.emission_now(), engine.expected_levels(), generator};
}

double TailProbability::operator()(const Engine& engine, const Observation& y, std::int64_t t) {
  return (*this)(draw_prediction(engine, t, seed_), y);
}

double TailProbability::operator()(const PredictiveDraws& prediction, const Observation& seen) {
  given_ = seen;
  if (prediction.levels.any()) given_.set_levels(prediction.levels);
  const Observation& y = given_;
  Generator generator = prediction.generator;
  counts_.resize(static_cast<std::size_t>(y.num_channels()));
  exposures_.resize(counts_.size());
  y.write_exposures(exposures_);
  log_likelihoods_.resize(kMeasuring);
  draws_.clear();
  for (Index i = 0; i < kRanked; ++i) {
    draw_counts(generator, kMeasuring + i, prediction, y);
    draws_.push_back(surprise(drawn_, prediction));
  }
  return tail_probability(surprise(y, prediction), draws_, generator.uniform());
}

}  // namespace headwater
