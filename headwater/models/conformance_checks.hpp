#pragma once

#include <string>
#include <vector>

#include "headwater/models/conformance.hpp"

// The parts of check_prior that have a file of their own, and what they share. Each adds what it
// finds; options.alarm_rate is the chance that one call finds something by accident.
namespace headwater::conformance {

using Findings = std::vector<std::string>;

void check_finite(const AnyPrior& prior, const ConformanceOptions& options, Findings& out);
void check_learning(const AnyPrior& prior, const ConformanceOptions& options, Findings& out);
void check_scale(const AnyPrior& prior, const ConformanceOptions& options, Findings& out);
void check_guide(const AnyPrior& prior, const ConformanceOptions& options, Findings& out);

// States after so many steps, one row a draw.
Matrix draw_states(const AnyPrior& prior, const ConformanceOptions& options, int steps);
Matrix activations_of(const AnyPrior& prior, const Matrix& states);

// The largest distance between the distribution functions of two samples.
double two_sample_distance(const Eigen::Ref<const Vector>& first,
                           const Eigen::Ref<const Vector>& second);
// What it exceeds with probability alarm_rate at most for two samples of n from one law. The
// distance of either from the law exceeds e with probability 2 exp(-2 n e^2) at most [Massart1990],
// so their distance from each other exceeds 2 e with twice that.
double largest_distance(Index n, double alarm_rate);

// Moves of a prior's own.
struct Moves {
  Moves(const AnyPrior& prior, const ConformanceOptions& options);
  Vector statistics(const AnyPrior& prior) const;
  double log_density(const AnyPrior& prior) const;

  Matrix before;
  Matrix after;
};

// What a consistent estimate may lose against the truth by chance, in nats.
constexpr double kMostLoss = 50;

// The prior with scales that differ from each other and from 1. Needs a scale.
AnyPrior unevenly_scaled(AnyPrior prior);

}  // namespace headwater::conformance
