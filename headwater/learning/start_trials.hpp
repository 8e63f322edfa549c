#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "headwater/engines/engine.hpp"
#include "headwater/engines/exact_engine.hpp"
#include "headwater/learning/batch_em.hpp"
#include "headwater/learning/estimate.hpp"
#include "headwater/learning/m_step.hpp"
#include "headwater/observation.hpp"
#include "headwater/reports.hpp"

namespace headwater {

// What is left of a stand-in's trials is improved under the prior itself, by so many particles.
constexpr Index kTrialParticles = 200;
// A finite prior with too many states is tried on a beam of so few.
constexpr Index kTrialBeamWidth = 64;

// A beginning of the search for a start, as far as EM has improved it.
struct StartTrial {
  StartReport::Trial report;
  Estimate estimate;
  bool is_stand_in = false;  // whether its prior only stands for the one that is to be learned
  bool is_factorised = false;
};

// A trial that was found under a stand-in, under the prior that it stands for.
void put_under(const AnyPrior& prior, StartTrial& trial);

// By iterations of exact EM.
void improve(StartTrial& trial, const RecordView& observations, std::int64_t iterations,
             const MStepOptions& m_step, const OnIteration& on_iteration);

// An engine for a trial, whose random numbers are those of a seed.
using MakeTrialEngine =
    std::function<std::unique_ptr<Engine>(const Estimate& estimate, std::uint64_t seed)>;

MakeTrialEngine exact_engines(ExactEngineOptions::Smoother smoother, bool learn_prior);
MakeTrialEngine particle_engines(bool learn_prior);
MakeTrialEngine beam_engines(bool learn_prior);
MakeTrialEngine fast_engines(bool learn_prior);

// By iterations of Monte Carlo EM, each with an engine of its own.
void improve_by_engine(StartTrial& trial, const RecordView& observations, std::int64_t iterations,
                       const MStepOptions& m_step, const MakeTrialEngine& make, std::uint64_t seed,
                       const OnIteration& on_iteration);

}  // namespace headwater
