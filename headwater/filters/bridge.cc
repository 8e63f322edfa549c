#include "headwater/filters/bridge.hpp"

#include <algorithm>
#include <cmath>

#include "headwater/core/infinity.hpp"
#include "headwater/kernels/gather.hpp"
#include "headwater/kernels/log_weights.hpp"

namespace headwater {

namespace {

// A stage halves the effective size; twelve stages cover a factor of 4,000, more than any sample of
// particles has.
constexpr Index kMostStages = 12;
constexpr double kKept = 0.5;  // of the effective size, by a stage
// A stage makes at least this part of the way, so that the stages end.
constexpr double kLeastPower = 0.02;
// Halvings of the interval in which the power of a stage is searched for: to 1/4096 of it.
constexpr int kBisections = 12;
// One Metropolis move after each stage: resampling leaves half of the particles, and a second move
// cost more than it brought.
constexpr Index kMovesPerStage = 1;
// Between the best rates for one component (.44) and for many (.23) [RobertsRosenthal2001].
constexpr double kWantedAccepted = 0.4;
constexpr double kLeastStep = 0.02;

// Random numbers of one time have room for so many more, each at a time far in the future.
RandomBlock numbered(RandomBlock random, Index number, Purpose purpose) {
  random.time += static_cast<std::uint64_t>(number) << 40;
  random.purpose = purpose;
  return random;
}

}  // namespace

Bridge::Crossing Bridge::cross(const AnyPrior& prior, const Proposal& proposal,
                               const Evidence& evidence, Resampling resampling,
                               const RandomBlock& random, const ThreadPool& pool,
                               MovedParticles particles) {
  Crossing crossing;
  const Index n = particles.states.rows();
  log_near_.resize(n);
  for_each_chunk(pool, n, kParticleChunk, [&](Index first, Index size, Index) {
    proposal.log_near_values(particles.states.middleRows(first, size),
                             log_near_.segment(first, size));
  });
  while (crossing.stages < kMostStages) {
    const double power = next_power(particles, crossing.left);
    if (!(power < crossing.left)) break;
    log_weights_ =
        particles.log_weights + power * (particles.log_likelihoods - particles.log_surrogates);
    const double log_normaliser = normalise_log_weights(as_span(log_weights_), as_span(weights_));
    if (log_normaliser == kMinusInfinity) break;
    crossing.log_normaliser += log_normaliser;
    crossing.left -= power;
    ++crossing.stages;
    const Index number = crossing.stages * (kMovesPerStage + 1);
    const RandomBlock address = numbered(random, number, Purpose::resampling);
    resample(resampling, address.particle(0), particles);
    for (Index m = 1; m <= kMovesPerStage; ++m) {
      move(prior, proposal, evidence, numbered(random, number + m, Purpose::bridges), pool,
           1 - crossing.left, particles);
    }
  }
  return crossing;
}

double Bridge::weighted_size(const MovedParticles& particles, double power) {
  log_weights_ =
      particles.log_weights + power * (particles.log_likelihoods - particles.log_surrogates);
  weights_.resize(log_weights_.size());
  double size = 0;
  const double sum = normalise_log_weights(as_span(log_weights_), as_span(weights_), &size);
  return sum == kMinusInfinity ? 0 : size;
}

// The largest power, up to `most`, that leaves half of the particles.
double Bridge::next_power(const MovedParticles& particles, double most) {
  const double wanted = kKept * static_cast<double>(particles.states.rows());
  if (weighted_size(particles, most) >= wanted) return most;
  double low = 0;
  double high = most;
  for (int i = 0; i < kBisections; ++i) {
    const double middle = (low + high) / 2;
    (weighted_size(particles, middle) >= wanted ? low : high) = middle;
  }
  return std::min(most, std::max(low, kLeastPower));
}

void Bridge::resample(Resampling scheme, Generator generator, MovedParticles& particles) {
  const Index n = particles.states.rows();
  chosen_.resize(static_cast<std::size_t>(n));
  headwater::resample(scheme, as_span(weights_), generator, chosen_);
  const auto gather = [&](Matrix& of, Matrix& room) {
    if (of.rows() == 0) return;  // the first states have no parents
    room.resize(of.rows(), of.cols());
    gather_rows(of, chosen_, room);
    of.swap(room);
  };
  gather(particles.states, states_);
  gather(particles.activations, activations_);
  gather(particles.parents, parents_);
  const auto gather_numbers = [&](Vector& of) {
    weights_ = of;
    for (Index i = 0; i < n; ++i) of[i] = weights_[chosen_[i]];
  };
  gather_numbers(particles.log_likelihoods);
  gather_numbers(particles.log_surrogates);
  gather_numbers(log_near_);
  // Ascending, as both are.
  for (std::int32_t& i : chosen_) i = particles.ancestors[i];
  particles.ancestors.swap(chosen_);
  particles.log_weights.setConstant(-std::log(static_cast<double>(n)));
}

// Draws near a state are reversible with respect to f u, and the law is f g~ (g / g~)^b: a draw is
// accepted by how much g~^(1 - b) g^b / u has grown.
void Bridge::move(const AnyPrior& prior, const Proposal& proposal, const Evidence& evidence,
                  const RandomBlock& random, const ThreadPool& pool, double power,
                  MovedParticles& particles) {
  const Index n = particles.states.rows();
  const Index components = prior.num_components();
  states_.resize(n, particles.states.cols());
  activations_ = particles.activations;
  log_likelihoods_.resize(n);
  log_surrogates_.resize(n);
  log_near_next_.resize(n);
  accepted_.assign(static_cast<std::size_t>((n + kParticleChunk - 1) / kParticleChunk), 0);
  for_each_chunk(pool, n, kParticleChunk, [&](Index first, Index size, Index chunk) {
    RandomBlock mine = random;
    mine.first_particle += static_cast<std::uint32_t>(first);
    auto states = states_.middleRows(first, size);
    auto x = activations_.middleRows(first, size);
    const Index parents = particles.parents.rows() == 0 ? 0 : size;
    proposal.draw_near(mine, particles.parents.middleRows(parents == 0 ? 0 : first, parents), step_,
                       particles.states.middleRows(first, size), states);
    prior.activations(states, x.leftCols(components));
    evidence.log_likelihoods(x, as_span(log_likelihoods_).subspan(first, size));
    proposal.log_values(states, log_surrogates_.segment(first, size));
    proposal.log_near_values(states, log_near_next_.segment(first, size));
    mine.purpose = Purpose::bridge_choices;
    for (Index i = first; i < first + size; ++i) {
      const double now = power * particles.log_likelihoods[i] +
                         (1 - power) * particles.log_surrogates[i] - log_near_[i];
      const double next =
          power * log_likelihoods_[i] + (1 - power) * log_surrogates_[i] - log_near_next_[i];
      const bool is_sound = std::isfinite(next) && x.row(i - first).allFinite();
      if (!is_sound || !(std::log(mine.particle(i - first).uniform()) < next - now)) continue;
      ++accepted_[static_cast<std::size_t>(chunk)];
      particles.states.row(i) = states_.row(i);
      particles.activations.row(i) = activations_.row(i);
      particles.log_likelihoods[i] = log_likelihoods_[i];
      particles.log_surrogates[i] = log_surrogates_[i];
      log_near_[i] = log_near_next_[i];
    }
  });
  double accepted = 0;
  for (const Index count : accepted_) accepted += static_cast<double>(count);
  step_ *= std::exp(accepted / static_cast<double>(n) - kWantedAccepted);
  step_ = std::clamp(step_, kLeastStep, 1.0);
}

}  // namespace headwater
