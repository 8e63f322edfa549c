#pragma once

#include <cstdint>
#include <vector>

#include "headwater/engines/engine.hpp"

namespace headwater {

// How unusual an observation is, given all before it: the probability that one drawn from the
// engine's prediction would be at least as surprising. Where the model is right these numbers are
// uniform on (0, 1).
//
// The measure of surprise is -log p under a sample of the predicted law of the activations; any
// measure gives uniform numbers, this one sees what is unlikely. The observation is ranked among
// draws from the prediction, ties at random; beyond the most surprising tenth of them the rank says
// too little, and their excesses over its border, which fall off exponentially or faster, are
// carried on: if exponential, P(excess > z) = (1 + z / sum of k excesses)^-k is exact.
class TailProbability {
 public:
  explicit TailProbability(std::uint64_t seed) : random_(seed) {}

  // Of the observation that the engine has taken in as the t-th.
  double operator()(const Engine& engine, Observation y, std::int64_t t);

 private:
  double surprise(Observation y, const Matrix& basis);
  void draw_counts(Generator& generator, const Eigen::Ref<const Vector>& x, const Matrix& basis,
                   Observation y);

  RandomStream random_;
  Matrix activations_;  // one row a draw: those that measure, then those that are ranked
  Vector column_sums_;
  SeenChannels seen_;
  std::vector<double> counts_;
  std::vector<double> log_likelihoods_;
  std::vector<double> draws_;
};

// The same from the numbers alone: of `surprise` among the surprises of draws (which are sorted),
// where `tie` in (0, 1) decides between equals.
double tail_probability(double surprise, std::vector<double>& draws, double tie);

}  // namespace headwater
