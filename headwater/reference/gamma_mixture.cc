#include "headwater/reference/gamma_mixture.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "headwater/core/special.hpp"

namespace headwater::reference {

namespace {

constexpr double kNegligibleLog = -69;  // log(1e-30)

double log_sum(const Vector& logs) {
  const double largest = logs.maxCoeff();
  return largest + std::log((logs.array() - largest).exp().sum());
}

// Removes negligible weights at both ends.
void cut_ends(Index& first, Vector& log_weights) {
  const double least = log_weights.maxCoeff() + kNegligibleLog;
  Index begin = 0;
  Index end = log_weights.size();
  while (log_weights[begin] < least) ++begin;
  while (log_weights[end - 1] < least) --end;
  first += begin;
  log_weights = Vector(log_weights.segment(begin, end - begin));
}

}  // namespace

GammaMixtureFilter::GammaMixtureFilter(double shape, double persistence, Vector basis)
    : shape_(shape),
      persistence_(persistence),
      basis_(std::move(basis)),
      rate_(shape),  // rate of the stationary distribution
      log_weights_(Vector::Zero(1)) {}

double GammaMixtureFilter::step(const Observation& y) {
  if (has_started_) predict();
  has_started_ = true;
  return update(y);
}

// Given n, P(h) = Γ(a + h) / (Γ(a) h!) (1 - q)^a q^h with a = shape + n and q = beta / (rate +
// beta), so P(h + 1) = P(h) q (a + h) / (h + 1). The distribution of h is unimodal, and the
// truncated terms lie beyond the mode.
void GammaMixtureFilter::predict() {
  const double r = shape_ / (1 - persistence_);
  const double beta = persistence_ * r;
  const double q = beta / (rate_ + beta);
  const Vector a =
      Vector::LinSpaced(log_weights_.size(), 0, static_cast<double>(log_weights_.size() - 1))
          .array() +
      shape_ + static_cast<double>(first_);
  Vector terms = log_weights_ + a * std::log1p(-q);
  std::vector<double> predicted = {log_sum(terms)};
  double largest = predicted[0];
  while (predicted.back() >= largest + kNegligibleLog) {
    const double h = static_cast<double>(predicted.size()) - 1;
    terms.array() += ((a.array() + h) * (q / (h + 1))).log();
    predicted.push_back(log_sum(terms));
    largest = std::max(largest, predicted.back());
  }
  first_ = 0;
  log_weights_ = Eigen::Map<Vector>(predicted.data(), static_cast<Index>(predicted.size()));
  rate_ = r;
}

double GammaMixtureFilter::update(const Observation& y) {
  double exposure = 0;
  double sum = 0;
  double log_constant = 0;  // sum of y log b - log y!
  for_each_seen(y, [&](Index m, double count, double) {
    exposure += basis_[m];
    sum += count;
    if (count > 0) log_constant += count * std::log(basis_[m]) - log_factorial(count);
  });
  for (Index i = 0; i < log_weights_.size(); ++i) {
    const double a = shape_ + static_cast<double>(first_ + i);
    log_weights_[i] += log_gamma(a + sum) - log_gamma(a) +
                       a * std::log(rate_ / (rate_ + exposure)) - sum * std::log(rate_ + exposure);
  }
  const double evidence = log_sum(log_weights_);
  log_weights_.array() -= evidence;
  rate_ += exposure;
  first_ += static_cast<Index>(sum);
  cut_ends(first_, log_weights_);
  return log_constant + evidence;
}

double GammaMixtureFilter::mean() const {
  double mean = 0;
  for (Index i = 0; i < log_weights_.size(); ++i) {
    mean += std::exp(log_weights_[i]) * (shape_ + static_cast<double>(first_ + i)) / rate_;
  }
  return mean;
}

}  // namespace headwater::reference
