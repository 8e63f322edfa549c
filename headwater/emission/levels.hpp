#pragma once

#include "headwater/any_law.hpp"
#include "headwater/observation.hpp"

namespace headwater {

// What a count tells of its channel's level: all that a Poisson count tells, or only whether there
// is one (see Hurdle).
enum class Tells { kCount, kPresence };

// The law of each channel's level under the law 'drifting', given the counts so far. A level is a
// factor of the channel's mean: a stationary chain ARG(1) of mean 1, variance phi (the dispersion)
// and correlation rho (the persistence) from one observation to the next,
//   E[e' | e] = 1 + rho (e - 1),   var[e' | e] = phi (1 - rho)^2 + 2 phi rho (1 - rho) e.
// The law given the counts is taken to be a gamma law, so that the predicted count is negative
// binomial and the count's news has a closed form; a prediction keeps mean and variance of the
// chain. Means and variances are stored, not shapes and rates: with phi = 0 every level is 1.
//
// Under a hurdle law a count that is not 0 tells only that: the law of the level is then not a
// gamma law, but one of the same mean and variance stands for it.
class LevelFilter {
 public:
  explicit LevelFilter(Index num_channels, Tells tells = Tells::kCount)
      : means_(Vector::Ones(num_channels)), variances_(Vector::Zero(num_channels)), tells_(tells) {}

  // The next step begins a new sequence: nothing is known of its levels.
  void restart() { has_begun_ = false; }
  // One step of the chain. dispersions: one, or one for each channel.
  void predict(const Vector& dispersions, double persistence);
  // The count of channel m, given its intensity without the level.
  void update(Index channel, double count, double exposure, double intensity);
  // log p(count) of a channel under the prediction, up to a term without the level.
  double log_density(Index channel, double count, double exposure, double intensity) const;

  const Vector& means() const { return means_; }
  // Variance over squared mean: the dispersion of the channel's predicted count.
  double dispersion(Index channel) const {
    return variances_[channel] / (means_[channel] * means_[channel]);
  }

  Tells tells() const { return tells_; }

  void exchange(StateArchive& archive);

 private:
  Vector means_;
  Vector variances_;
  Tells tells_;
  bool has_begun_ = false;  // the first prediction of a sequence is the stationary law
};

// Parameters of a law whose channels drift.
struct DriftParameters {
  Vector dispersions;  // 1 or M
  double persistence = 0;
};
bool drifts(const AnyLaw& law);
Tells tells_of_levels(const AnyLaw& law);
DriftParameters drift_parameters(const AnyLaw& law);  // of a law that drifts

// Statistics from which dispersions and persistence are learned. As with DispersionStatistics, a
// score S and an information I enter as I value + S and I. The score is a difference quotient of
// the predictions by levels that are a little more, or less, dispersed or persistent. The
// information is the expected one of a negative binomial count, whose mean and dispersion change
// with the parameter by the same difference quotients; of a hurdle law, that of its presence.
// (Squared scores would be as right near the
// truth, and far from it so large that scoring hardly moves.)
class DriftScores {
 public:
  explicit DriftScores(Index num_channels, Tells tells = Tells::kCount);
  static Index num_statistics(Index num_channels) { return 2 * num_channels + 2; }

  void restart();  // see LevelFilter
  // One step of all chains; then the counts of an observation, which weigh `step_size` in the
  // running averages.
  void predict(const DriftParameters& parameters);
  void update(const Observation& y, const Vector& intensities, const DriftParameters& parameters,
              double step_size);
  const Vector& averages() const { return averages_; }

  void exchange(StateArchive& archive);

 private:
  // Two filters with parameters apart from each other.
  struct Pair {
    LevelFilter more;
    LevelFilter less;
    double apart;

    struct Score {
      double slope = 0;
      double information = 0;
    };
    double information(Index channel, double exposure, double intensity) const;
    // ... of one count; then the filters take it in.
    Score update(Index channel, double count, double exposure, double intensity);
  };

  Pair of_dispersion_;   // on the logarithmic scale
  Pair of_persistence_;  // on the scale of log(rho / (1 - rho))
  Vector averages_;
};

// The step of scoring for the persistence, from the last two of the averages; observations: how
// many they are worth. Moves log(rho / (1 - rho)) by 1 at most. A weak normal prior, as informative
// as some counts, decides where the data say nothing.
double next_persistence(std::span<const double> statistics, double observations, double now);

}  // namespace headwater
