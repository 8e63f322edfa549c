#include "headwater/learning/running_mean.hpp"

#include <algorithm>
#include <cmath>

#include "headwater/core/special.hpp"
#include "headwater/core/state_checks.hpp"

namespace headwater {

namespace {

constexpr double kHalf = 0.5;   // an observation, of the rate of all channels
constexpr double kPooled = 20;  // observations, of the dispersion of all channels
constexpr double kNearlyPoisson = 1e-7;
constexpr double kMostDispersed = 1e4;
constexpr double kLargestWeight = 1e100;  // before sums are expressed in a new unit

double log_negative_binomial(double y, double mean, double dispersion) {
  if (dispersion < kNearlyPoisson) {
    return (y > 0 ? y * std::log(mean) - log_gamma(y + 1) : 0) - mean;
  }
  const double size = 1 / dispersion;
  const double empty = -size * std::log1p(mean / size);
  if (y == 0) return empty;
  return empty + log_gamma(y + size) - log_gamma(size) - log_gamma(y + 1) +
         y * std::log(mean / (size + mean));
}

}  // namespace

void RunningMean::begin(Index num_channels) {
  for (Vector* values : {&counts_, &exposure_, &excess_, &squares_}) values->setZero(num_channels);
}

double RunningMean::predict(const Observation& y) {
  if (num_channels() == 0) begin(y.num_channels());
  const double unit = weight_;
  const double inverse = 1 / unit;
  const double rate_of_all = (all_counts_ * inverse + kHalf) / (all_exposure_ * inverse + kHalf);
  const double pooled = cells_ > 0 ? kPooled * unit * all_squares_ / cells_ : 1;
  const double dispersion_of_all = all_squares_ > 0 ? all_excess_ / all_squares_ : 0;
  double log_probability = 0;
  double new_excess = 0;  // not written to memory for each cell
  double new_squares = 0;
  for_each_seen(y, [&](Index m, double count, double exposure) {
    const double rate = (counts_[m] * inverse + kHalf * rate_of_all) /
                        (std::max(seen_ + exposure_[m], 0.0) * inverse + kHalf);
    const double mean = rate * exposure;
    const double dispersion = std::clamp(
        (excess_[m] + pooled * dispersion_of_all) / (squares_[m] + pooled), 0.0, kMostDispersed);
    log_probability += log_negative_binomial(count, mean, dispersion);
    const double excess = unit * ((count - mean) * (count - mean) - mean);
    const double square = unit * mean * mean;
    excess_[m] += excess;
    squares_[m] += square;
    new_excess += excess;
    new_squares += square;
  });
  all_excess_ += new_excess;
  all_squares_ += new_squares;
  cells_ += unit * static_cast<double>(num_channels());
  return log_probability;
}

void RunningMean::add(const Observation& y) {
  if (num_channels() == 0) begin(y.num_channels());
  ++observations_;
  const double unit = weight_;
  seen_ += unit;
  all_exposure_ += unit * static_cast<double>(y.num_channels());
  double all_counts = all_counts_;  // not written to memory for each count
  for (std::size_t i = 0; i < y.channels().size(); ++i) {
    const double counts = unit * y.counts()[i];
    counts_[y.channels()[i]] += counts;
    all_counts += counts;
  }
  all_counts_ = all_counts;
  for (std::size_t i = 0; i < y.exposed().size(); ++i) {
    const double exposure = unit * (y.exposures()[i] - 1);
    exposure_[y.exposed()[i]] += exposure;
    all_exposure_ += exposure;
  }
  if (kept_ == 1) return;
  weight_ /= kept_;
  if (weight_ > kLargestWeight) rescale();
}

void RunningMean::rescale() {
  const double factor = 1 / weight_;
  for (Vector* values : {&counts_, &exposure_, &excess_, &squares_}) *values *= factor;
  for (double* value :
       {&seen_, &all_counts_, &all_exposure_, &all_excess_, &all_squares_, &cells_}) {
    *value *= factor;
  }
  weight_ = 1;
}

void RunningMean::exchange(StateArchive& archive) {
  archive(observations_, weight_, seen_, all_counts_, all_exposure_, all_excess_, all_squares_,
          cells_);
  Index size = num_channels();
  archive.count(size);
  if (archive.is_reading()) begin(size);
  archive(counts_, exposure_, excess_, squares_);
  archive.expect(is_count(observations_) && weight_ >= 1 && weight_ <= kLargestWeight &&
                     std::isfinite(seen_) && std::isfinite(cells_),
                 "a mean of no number of counts");
}

}  // namespace headwater
