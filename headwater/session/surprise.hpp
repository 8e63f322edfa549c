#pragma once

#include <cstdint>
#include <vector>

#include "headwater/engines/engine.hpp"

namespace headwater {

// A sample of the law of an observation before it was seen: activations drawn from their predicted
// law, and how counts follow from them.
struct PredictiveDraws {
  Matrix activations;  // one row a draw: those that measure, then those that are ranked
  Emission emission;
  Generator generator;  // for the counts
};

// Of the observation that the engine has taken in as the t-th, by parameters that it has not moved.
PredictiveDraws draw_prediction(const Engine& engine, std::int64_t t, std::uint64_t seed);

// How unusual an observation is, given all before it: the probability that one drawn from the
// engine's prediction would be at least as surprising. Where the model is right these numbers are
// uniform on (0, 1).
//
// The measure of surprise is -log p under a sample of the predicted law of the activations. Any
// measure gives uniform numbers; this one sees what is unlikely. The observation is ranked among
// draws from the prediction, ties at random. Beyond the most surprising tenth of the draws the rank
// says too little. There the excesses over the border of that tenth, which fall off exponentially
// or faster, are extrapolated: if they are exponential, P(excess > z) = (1 + z / sum of k
// excesses)^-k is exact.
class TailProbability {
 public:
  explicit TailProbability(std::uint64_t seed) : seed_(seed) {}

  // Of the observation that the engine has taken in as the t-th; no M-step may have followed.
  double operator()(const Engine& engine, const Observation& y, std::int64_t t);
  double operator()(const PredictiveDraws& prediction, const Observation& y);

 private:
  double surprise(const Observation& y, const PredictiveDraws& prediction);
  void draw_counts(Generator& generator, Index row, const PredictiveDraws& prediction,
                   const Observation& y);

  std::uint64_t seed_;
  Evidence evidence_;
  std::vector<double> counts_;
  std::vector<double> exposures_;
  Observation drawn_;
  std::vector<double> log_likelihoods_;
  std::vector<double> draws_;
};

// The same from the numbers alone: of `surprise` among the surprises of draws (which are sorted),
// where `tie` in (0, 1) decides between equals.
double tail_probability(double surprise, std::vector<double>& draws, double tie);

}  // namespace headwater
