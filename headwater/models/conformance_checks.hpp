#pragma once

#include <string>
#include <vector>

#include "headwater/any_prior.hpp"
#include "headwater/conformance.hpp"

// The parts of check_prior that have their own files, and their shared helpers. Each check appends
// its findings; options.alarm_rate is the probability that one call reports a false finding.
namespace headwater::conformance {

using Findings = std::vector<std::string>;

void check_finite(const AnyPrior& prior, const ConformanceOptions& options, Findings& out);
void check_learning(const AnyPrior& prior, const ConformanceOptions& options, Findings& out);
void check_scale(const AnyPrior& prior, const ConformanceOptions& options, Findings& out);
void check_guide(const AnyPrior& prior, const ConformanceOptions& options, Findings& out);

// States after `steps` transitions, one row per draw.
Matrix draw_states(const AnyPrior& prior, const ConformanceOptions& options, int steps);
Matrix activations_of(const AnyPrior& prior, const Matrix& states);

// The Kolmogorov-Smirnov distance between two samples.
double two_sample_distance(const Eigen::Ref<const Vector>& first,
                           const Eigen::Ref<const Vector>& second);
// The value that this distance exceeds with probability at most alarm_rate for two samples of size
// n from the same distribution. Each sample's distance from that distribution exceeds e with
// probability at most 2 exp(-2 n e^2) [Massart1990], so the distance between them exceeds 2 e with
// at most twice that probability.
double largest_distance(Index n, double alarm_rate);

// Transitions drawn from a prior.
struct Moves {
  Moves(const AnyPrior& prior, const ConformanceOptions& options);
  Vector statistics(const AnyPrior& prior) const;
  double log_density(const AnyPrior& prior) const;

  Matrix before;
  Matrix after;
};

// The largest loss of log-likelihood, in nats, that we attribute to chance in a consistent
// estimate.
constexpr double kMostLoss = 50;

// The prior with scales that differ from each other and from 1. Only for a ScaledPrior.
AnyPrior unevenly_scaled(AnyPrior prior);

}  // namespace headwater::conformance
