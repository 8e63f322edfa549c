#pragma once

#include <cstdint>
#include <vector>

#include "headwater/any_prior.hpp"
#include "headwater/emission.hpp"
#include "headwater/export.hpp"

namespace headwater {

// Draws a stream from the model, one observation at a time: activations from the prior, started in
// its stationary law, and counts from the law of the counts around B x_t. One more column than the
// prior has components is a background, which is always on.
class HEADWATER_EXPORT Simulator {
 public:
  // phase: of the first observation, in the season.
  Simulator(AnyPrior prior, Emission emission, std::uint64_t seed, std::int64_t phase = 0);

  void next();
  const std::vector<double>& activation() const { return activation_; }    // x_t, K numbers
  const std::vector<double>& observation() const { return observation_; }  // y_t, M numbers
  const Matrix& state() const { return state_; }  // of the prior at t, one row

 private:
  void move_levels();

  AnyPrior prior_;
  Emission emission_;
  RandomStream random_;
  std::int64_t phase_;
  std::uint64_t time_ = 0;
  Matrix state_;  // one particle
  Matrix next_state_;
  Matrix x_;
  std::vector<double> activation_;
  std::vector<double> observation_;
  Vector levels_;  // of the channels, where the law drifts
};

// A basis to simulate from: entries uniform on (0, scale).
HEADWATER_EXPORT Matrix random_basis(Index num_channels, Index num_components, double scale,
                                     std::uint64_t seed);

}  // namespace headwater
