#include "headwater/simulate.hpp"

#include <fmt/format.h>

#include "headwater/emission/levels.hpp"
#include "headwater/error.hpp"

namespace headwater {

Simulator::Simulator(AnyPrior prior, Emission emission, std::uint64_t seed, std::int64_t phase)
    : prior_(std::move(prior)),
      emission_(std::move(emission)),
      random_(seed),
      phase_(phase),
      state_(1, prior_.state_size()),
      next_state_(1, prior_.state_size()),
      x_(1, prior_.num_components()),
      activation_(static_cast<std::size_t>(prior_.num_components())),
      observation_(static_cast<std::size_t>(emission_.num_channels())) {
  const Index further_columns = emission_.num_columns() - prior_.num_components();
  if (further_columns != 0 && further_columns != 1) {
    throw UsageError(fmt::format("the basis has {} columns and the prior {} components",
                                 emission_.num_columns(), prior_.num_components()));
  }
  const Index of_season = emission_.season().num_components();
  if (of_season > 0 && of_season != prior_.num_components()) {
    throw UsageError(fmt::format("the profile has {} rows; expected {}, one for each component",
                                 of_season, prior_.num_components()));
  }
}

// ARG(1): a gamma variable whose shape is a Poisson variable more than the stationary one.
void Simulator::move_levels() {
  const DriftParameters drift = drift_parameters(emission_.law());
  const double rho = drift.persistence;
  const bool is_first = levels_.size() == 0;
  if (is_first) levels_.setOnes(emission_.num_channels());
  for (Index m = 0; m < levels_.size(); ++m) {
    const double phi = drift.dispersions[drift.dispersions.size() == 1 ? 0 : m];
    if (phi == 0) continue;
    Generator generator = random_.at(time_, static_cast<std::uint32_t>(m), Purpose::levels);
    const double scale = is_first ? phi : phi * (1 - rho);
    const double more = is_first ? 0 : poisson(generator, rho * levels_[m] / scale);
    levels_[m] = scale * gamma(generator, 1 / phi + more);
  }
}

void Simulator::next() {
  if (++time_ == 1) {
    prior_.sample_initial({random_, time_, 0, Purpose::initial_state}, next_state_);
  } else {
    prior_.sample_transition({random_, time_, 0, Purpose::transition}, state_, next_state_);
  }
  state_.swap(next_state_);
  prior_.activations(state_, x_);
  for (Index k = 0; k < x_.cols(); ++k) activation_[k] = x_(0, k);
  const Matrix& basis = emission_.at(phase_ + static_cast<std::int64_t>(time_) - 1).basis();
  const bool has_levels = drifts(emission_.law());
  if (has_levels) move_levels();
  for (Index m = 0; m < basis.rows(); ++m) {
    Generator generator = random_.at(time_, static_cast<std::uint32_t>(m), Purpose::observation);
    const double mean = basis.row(m).head(x_.cols()).dot(x_.row(0)) +
                        basis.row(m).tail(basis.cols() - x_.cols()).sum();
    observation_[m] = has_levels
                          ? emission_.law()->draw_at_level(m, levels_[m] * mean, 0, generator)
                          : emission_.law()->draw(m, mean, generator);
  }
}

Matrix random_basis(Index num_channels, Index num_components, double scale, std::uint64_t seed) {
  const RandomStream random(seed);
  Matrix basis(num_channels, num_components);
  for (Index m = 0; m < num_channels; ++m) {
    Generator generator = random.at(0, static_cast<std::uint32_t>(m), Purpose::basis);
    for (Index k = 0; k < num_components; ++k) basis(m, k) = scale * generator.uniform();
  }
  return basis;
}

}  // namespace headwater
