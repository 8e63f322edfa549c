#include "headwater/emission/hurdle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headwater/emission/hurdle_terms.hpp"
#include "headwater/emission/negative_binomial_terms.hpp"
#include "headwater/error.hpp"
#include "headwater/random.hpp"

namespace headwater {

namespace {

// What is known of the excess before there are counts, and how many positive counts that is worth:
// for the mean over the channels, and for a channel, of which that mean is expected.
constexpr double kUsualExcess = 0.1;
constexpr double kWorthOfUsualExcess = 5;
constexpr double kWorthOfMean = 20;
constexpr Index kExcessStatistics = 2;  // of a channel: counts beyond the first, positive counts

double within_range(double excess) {
  return std::clamp(excess, hurdle::kLeastExcess, hurdle::kLargestExcess);
}

}  // namespace

double Hurdle::log_density(Index channel, double y, double mean) const {
  const double phi = dispersion(channel);
  if (y == 0) return -negative_binomial::softened(mean, phi);
  return hurdle::log_presence(mean, phi) + hurdle::log_beyond(y, excess(channel));
}

double Hurdle::gain(Index channel, double y, double mean) const {
  return y > 0 && mean > 0 ? 1 / hurdle::presence(mean, dispersion(channel)) : 0;
}

double Hurdle::loss(Index channel, double y, double mean) const {
  const double phi = dispersion(channel);
  return y > 0 ? hurdle::level_if_present(mean, phi) : hurdle::level_if_silent(mean, phi);
}

double Hurdle::information(Index channel, double mean) const {
  return hurdle::information(mean, dispersion(channel));
}

double Hurdle::draw(Index channel, double mean, Generator& generator) const {
  return draw(channel, mean, dispersion(channel), generator);
}

double Hurdle::draw(Index channel, double mean, double dispersion, Generator& generator) const {
  if (!(generator.uniform() < hurdle::presence(mean, dispersion))) return 0;
  const double x = excess(channel);
  return 1 + std::floor(std::log(generator.uniform()) / (std::log(x) - std::log1p(x)));
}

Parameters Hurdle::parameters() const {
  Parameters parameters;
  if (drifts()) parameters = levels_->parameters();
  parameters.push_back({kExcess, excess_});
  return parameters;
}

void Hurdle::set_parameter(const Parameter& parameter) {
  if (parameter.name == kExcess) return set_excess(parameter.value);
  if (!drifts() || find_parameter(levels_->parameters(), parameter.name) == nullptr) {
    throw UsageError("the law '" + name() + "' has no parameter '" + parameter.name + "'");
  }
  levels_->set_parameter(parameter);
}

void Hurdle::set_excess(const Matrix& value) {
  const bool fits = value.cols() == 1 && (value.rows() == 1 || value.rows() == excess_.size());
  if (!fits) {
    const std::string one_each = excess_.size() > 1 ? fmt::format(" or {}", excess_.size()) : "";
    throw UsageError(
        fmt::format("{} has {} values; expected 1{}", kExcess, value.size(), one_each));
  }
  for (const double x : value.reshaped()) {
    if (x >= 0 && x <= hurdle::kLargestExcess) continue;
    throw UsageError(fmt::format("{} is {}; expected a number from 0 to {:g}", kExcess, x,
                                 hurdle::kLargestExcess));
  }
  if (value.rows() == 1) {
    excess_.setConstant(value(0));
  } else {
    excess_ = value;
  }
  excess_ = excess_.unaryExpr(&within_range);
}

Index Hurdle::num_statistics(Index num_channels) const {
  return (drifts() ? levels_->num_statistics(num_channels) : 0) + kExcessStatistics * num_channels;
}

// Levels have 2 M + 2 statistics and the excess has 2 M, which come last.
void Hurdle::add_statistics(Index channel, double y, double, double weight,
                            std::span<double> out) const {
  if (!(y > 0)) return;
  const std::size_t first = drifts() ? out.size() / 2 + 1 : 0;
  double* const own = out.data() + first + kExcessStatistics * channel;
  own[0] += weight * std::max(0.0, y - 1);
  own[1] += weight;
}

void Hurdle::maximise(std::span<const double> statistics, double observations, const Held& held) {
  if (drifts()) {
    const std::size_t of_levels = statistics.size() / 2 + 1;
    levels_->maximise(statistics.first(of_levels), observations, held);
    statistics = statistics.subspan(of_levels);
  }
  if (!held.holds(kExcess)) learn_excess(statistics, observations);
}

void Hurdle::learn_excess(std::span<const double> statistics, double observations) {
  const Eigen::Map<const Matrix> sums(statistics.data(), kExcessStatistics,
                                      static_cast<Index>(statistics.size()) / kExcessStatistics);
  const Vector of_all = observations * sums.rowwise().sum();
  if (!(of_all[1] > 0)) return;
  const double mean =
      (of_all[0] + kWorthOfUsualExcess * kUsualExcess) / (of_all[1] + kWorthOfUsualExcess);
  if (excess_.size() == 1) {
    excess_[0] = within_range(mean);
    return;
  }
  for (Index m = 0; m < excess_.size(); ++m) {
    excess_[m] = within_range((observations * sums(0, m) + kWorthOfMean * mean) /
                              (observations * sums(1, m) + kWorthOfMean));
  }
}

}  // namespace headwater
