#include "headwater/session/engine_cost.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headwater/error.hpp"
#include "headwater/registry.hpp"
#include "headwater/session/engine_table.hpp"

namespace headwater {

namespace {

constexpr double kOperationsASecond = 1e9;
constexpr double kNumber = sizeof(double);
// Steps that the window of a smoother holds at most: a lag of 200 and a block of 64.
constexpr double kWindow = 264;
// Passes of the exact engine over its transition matrices: the filter's, some three backward, and
// the moves.
constexpr double kExactPasses = 6;
// ... and what M-steps, the stationary law and the trace do with each of their entries.
constexpr double kExactEntry = 20;
// Of a beam: operations for each pair of a state and one of the step before, in all passes.
// Measured: 160 ns a pair with 20 components and the default window.
constexpr double kBeamPair = 160;
// Of a particle and component: random numbers, transcendental functions, copies.
constexpr double kParticleMove = 10;
// Steps that the windows of particles hold at most, where no lag is asked for.
constexpr double kParticleWindow = 128;

double joint_states(const FiniteChain& chain) {
  double states = 1;
  for (const FiniteAxis& axis : chain.axes) states *= static_cast<double>(axis.size());
  return states;
}

EngineCost cost_of(const Config& config, const AnyPrior& prior, Index num_channels) {
  const EngineInfo& engine = engine_info(choose_engine(config, prior, num_channels).kind);
  return engine.cost != nullptr ? engine.cost(config, prior, num_channels) : EngineCost{};
}

EngineCost cost_of_all(std::span<const Config> fits, Index num_channels) {
  EngineCost sum;
  for (const Config& config : fits) {
    // Of several priors to choose from the first one, as for a single fit.
    const AnyPrior prior = make_priors(config.num_components, config.prior).front();
    const EngineCost own = cost_of(config, prior, num_channels);
    sum.operations += own.operations;
    sum.bytes += own.bytes;
  }
  return sum;
}

std::string time_text(double operations) {
  const double seconds = operations / kOperationsASecond;
  if (seconds < 1) return fmt::format("{:.1f} seconds", seconds);
  if (seconds < 120) return fmt::format("{:.0f} seconds", seconds);
  if (seconds < 7200) return fmt::format("{:.0f} minutes", seconds / 60);
  return fmt::format("{:.0f} hours", seconds / 3600);
}

}  // namespace

EngineCost exact_cost(const Config&, const AnyPrior& prior, Index num_channels) {
  const FiniteChain& chain = prior.finite_chain();
  const double states = joint_states(chain);
  double moves = 0;  // out of one joint state, axis by axis
  double entries = 0;
  for (const FiniteAxis& axis : chain.axes) {
    moves += static_cast<double>(axis.size());
    entries += static_cast<double>(axis.size() * axis.size());
  }
  EngineCost cost;
  cost.operations = states * (kExactPasses * moves + 2 * static_cast<double>(num_channels)) +
                    kExactEntry * entries;
  cost.bytes = kNumber * (2 * kWindow * states + 8 * entries);
  cost.reason = fmt::format("prior '{}' has {} states", prior.name(), states);
  cost.remedy = "use fewer states, or engine 'particle'";
  return cost;
}

EngineCost beam_cost(const Config& config, const AnyPrior& prior, Index num_channels) {
  const double states = joint_states(prior.finite_chain());
  const double width = std::min(static_cast<double>(config.engine.beam_width), states);
  const auto numbers = static_cast<double>(prior.num_components() + num_channels);
  EngineCost cost;
  cost.operations = kBeamPair * width * width + 16 * width * numbers;
  cost.bytes = kNumber * width * (2 * kWindow + 8 * static_cast<double>(prior.num_components()));
  cost.reason = fmt::format("it compares {} states with each other", width);
  cost.remedy = "use a smaller beam-width";
  return cost;
}

EngineCost particle_cost(const Config& config, const AnyPrior& prior, Index num_channels) {
  const auto particles = static_cast<double>(config.engine.num_particles);
  const auto components = static_cast<double>(prior.num_components());
  const auto channels = static_cast<double>(num_channels);
  const double steps = kParticleWindow + static_cast<double>(config.lag);
  EngineCost cost;
  cost.operations = particles * components * (kParticleMove + 2 * channels);
  cost.bytes = kNumber * particles * components * steps;
  cost.reason = fmt::format("there are {} particles", particles);
  cost.remedy = "use fewer particles";
  if (config.paper_exact) cost.bytes = 2 * kNumber * particles * components * channels;
  if (config.smoother != SmootherKind::kForward) return cost;
  cost.operations += 2 * components * particles * particles;
  cost.reason = fmt::format("smoother 'forward' compares {} particles with each other", particles);
  cost.remedy = "use fewer particles, or smoother 'lag' or 'paris'";
  return cost;
}

void check_cost(const Config& config, const AnyPrior& prior, Index num_channels) {
  const EngineCost cost = cost_of(config, prior, num_channels);
  const bool is_slow = cost.operations > kMostOperations;
  if (!is_slow && cost.bytes <= kMostBytes) return;
  const EngineKind kind = choose_engine(config, prior, num_channels).kind;
  const std::string need = is_slow
                               ? fmt::format("about {} an observation; the limit is {}",
                                             time_text(cost.operations), time_text(kMostOperations))
                               : fmt::format("about {:.0f} GB of memory; the limit is {:.0f} GB",
                                             cost.bytes / 1e9, kMostBytes / 1e9);
  throw UsageError(fmt::format("engine '{}' would need {}: {}; {}", to_string(kind), need,
                               cost.reason, cost.remedy));
}

std::optional<std::string> slowness(const Config& config, const AnyPrior& prior,
                                    Index num_channels) {
  const EngineCost cost = cost_of(config, prior, num_channels);
  if (cost.operations < kManyOperations) return std::nullopt;
  const EngineKind kind = choose_engine(config, prior, num_channels).kind;
  return fmt::format("engine '{}' needs about {} an observation: {}; to be faster, {}",
                     to_string(kind), time_text(cost.operations), cost.reason, cost.remedy);
}

void check_cost_together(std::span<const Config> fits, Index num_channels) {
  const EngineCost cost = cost_of_all(fits, num_channels);
  if (cost.bytes <= kMostBytes) return;
  throw UsageError(fmt::format(
      "{} fits side by side would need about {:.0f} GB of memory; the limit is {:.0f} GB",
      fits.size(), cost.bytes / 1e9, kMostBytes / 1e9));
}

std::optional<std::string> slowness_together(std::span<const Config> fits, Index num_channels) {
  const EngineCost cost = cost_of_all(fits, num_channels);
  std::string needs;
  if (cost.operations >= kManyOperations) {
    needs = fmt::format("{} of one core an observation", time_text(cost.operations));
  }
  if (cost.bytes >= kManyBytes) {
    needs += fmt::format("{}{:.1f} GB of memory", needs.empty() ? "" : ", and ", cost.bytes / 1e9);
  }
  if (needs.empty()) return std::nullopt;
  return fmt::format("{} fits side by side need about {}", fits.size(), needs);
}

bool shares_steps(const Config& config, const AnyPrior& prior, Index num_channels) {
  return choose_engine(config, prior, num_channels).kind == EngineKind::kParticle &&
         cost_of(config, prior, num_channels).operations >= kOperationsToShare;
}

std::optional<std::string> unshared_steps(const Config& config, const AnyPrior& prior,
                                          Index num_channels) {
  if (config.engine.num_threads == 1 || shares_steps(config, prior, num_channels)) {
    return std::nullopt;
  }
  const EngineKind kind = choose_engine(config, prior, num_channels).kind;
  return fmt::format("{}: observations were taken in on one thread; a search for a start has {}",
                     kind == EngineKind::kParticle
                         ? fmt::format("steps of {} particles are too small to be shared",
                                       config.engine.num_particles)
                         : fmt::format("engine '{}' shares no steps", to_string(kind)),
                     config.engine.num_threads);
}

}  // namespace headwater
