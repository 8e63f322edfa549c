#pragma once

#include "headwater/filters/proposal.hpp"
#include "headwater/filters/resampling.hpp"

namespace headwater {

// The particles of a step between its draws and its weights, one row or entry each.
struct MovedParticles {
  Matrix& parents;
  Matrix& states;
  Matrix& activations;  // a background's column stays as it is
  std::vector<std::int32_t>& ancestors;
  Vector& log_weights;      // before the observation is seen, normalised
  Vector& log_likelihoods;  // log g
  Vector& log_surrogates;   // log g~
};

// From the law that particles were drawn from to the one that they are to have, in stages: those of
// weights (g / g~)^b, with b so far from one to the next that half of the particles would be left.
// After each they are resampled and moved on, by draws near their states that are accepted so that
// the law at b stays [DelMoralDoucetJasra2006, HerbstSchorfheide2019]. What is estimated stays
// unbiased.
class Bridge {
 public:
  struct Crossing {
    double log_normaliser = 0;  // of the weights of all stages but the last
    double left = 1;            // 1 - b: the power of g / g~ that is still to be weighed in
    Index stages = 0;
  };
  // Afterwards particles still have to be weighed by `left` times log g - log g~.
  Crossing cross(const AnyPrior& prior, const Proposal& proposal, const Evidence& evidence,
                 Resampling resampling, const RandomBlock& random, const ThreadPool& pool,
                 MovedParticles particles);

  void restart() { step_ = kFirstStep; }  // a sequence knows nothing of those before it
  void exchange(StateArchive& archive) { archive(step_); }

 private:
  double next_power(const MovedParticles& particles, double most);
  double weighted_size(const MovedParticles& particles, double power);
  void resample(Resampling scheme, Generator generator, MovedParticles& particles);
  void move(const AnyPrior& prior, const Proposal& proposal, const Evidence& evidence,
            const RandomBlock& random, const ThreadPool& pool, double power,
            MovedParticles& particles);

  static constexpr double kFirstStep = 0.5;
  double step_ = kFirstStep;  // of the draws; follows how many are accepted

  Vector log_weights_;
  Vector weights_;
  Vector log_near_;  // of each particle, log u of the proposal
  std::vector<std::int32_t> chosen_;
  std::vector<Index> accepted_;  // in each chunk
  Matrix states_;
  Matrix activations_;
  Matrix parents_;
  Vector log_likelihoods_;
  Vector log_surrogates_;
  Vector log_near_next_;
};

}  // namespace headwater
