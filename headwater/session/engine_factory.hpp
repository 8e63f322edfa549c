#pragma once

#include <memory>

#include "headwater/learning/estimate.hpp"
#include "headwater/session/config.hpp"

namespace headwater {

// The engine that does the E-step of a fit, with its smoother. num_channels: 0 where that is not
// known yet.
EngineChoice engine_of(const Config& config, const AnyPrior& prior, Index num_channels);

// Throws UsageError if the engine that is asked for cannot do what is asked for.
void check_engine(const Config& config, const AnyPrior& prior);

// How its particles work, where it has any.
ParticleEngineOptions particle_options(const Config& config, const AnyPrior& prior,
                                       Index num_channels, std::uint64_t seed);

// An engine that starts with this estimate. seed: of its random numbers.
std::unique_ptr<Engine> make_engine(const Config& config, const Estimate& start, std::uint64_t seed,
                                    std::shared_ptr<const ThreadPool> pool);

}  // namespace headwater
