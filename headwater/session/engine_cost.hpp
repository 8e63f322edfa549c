#pragma once

#include <optional>
#include <span>
#include <string>

#include "headwater/any_prior.hpp"
#include "headwater/config.hpp"

namespace headwater {

// What one observation costs an engine in a fit, within a factor of a few: enough to tell an hour
// from a second.
struct EngineCost {
  double operations = 0;  // multiplications or the like; one core does some 10^9 a second
  double bytes = 0;       // of memory, all at once
  std::string reason;     // what makes it large, with its number
  std::string remedy;     // what to change
};

// Beyond these a fit is refused: a minute of one core an observation, 16 GiB.
inline constexpr double kMostOperations = 6e10;
inline constexpr double kMostBytes = 0x1p34;
// From this on, a tenth of a second an observation or 1 GiB, it is worth telling.
inline constexpr double kManyOperations = 1e8;
inline constexpr double kManyBytes = 0x1p30;

// From this on, some 100 us on one core, threads share the step of an observation. Sharing costs
// some 10 us.
inline constexpr double kOperationsToShare = 3e5;

EngineCost exact_cost(const Config& config, const AnyPrior& prior, Index num_channels);
EngineCost beam_cost(const Config& config, const AnyPrior& prior, Index num_channels);
EngineCost particle_cost(const Config& config, const AnyPrior& prior, Index num_channels);

// Of the engine that is meant. Throws UsageError if it costs more than the limits.
void check_cost(const Config& config, const AnyPrior& prior, Index num_channels);
// One line for a fit that is slow and still within the limits.
std::optional<std::string> slowness(const Config& config, const AnyPrior& prior,
                                    Index num_channels);
// The same for fits side by side: what each may cost may be too much for all of them.
void check_cost_together(std::span<const Config> fits, Index num_channels);
std::optional<std::string> slowness_together(std::span<const Config> fits, Index num_channels);
// Whether threads share the step of an observation: those of particles, if it is large enough.
bool shares_steps(const Config& config, const AnyPrior& prior, Index num_channels);
// One line for a fit that has had several threads and made its steps on one.
std::optional<std::string> unshared_steps(const Config& config, const AnyPrior& prior,
                                          Index num_channels);

}  // namespace headwater
