// A long stream with prior relaxed-selection, whose activations come closer to 0 and 1 than doubles
// can represent. Checks all numbers of the filter and of the estimate after every observation. M =
// 8, K = 5, alpha = .95, learned from .8. Exits with 1 if a number is invalid.
//   Usage: bench_long_relaxed [T] [PARTICLES] [SEED]

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "bench/summary.hpp"
#include "headwater/engines/particle_engine.hpp"
#include "headwater/learning/online_em.hpp"
#include "headwater/matching.hpp"
#include "headwater/models/relaxed_selection.hpp"
#include "headwater/reference/streams.hpp"
#include "headwater/session.hpp"
#include "headwater/simulate.hpp"

using namespace headwater;

namespace {

constexpr Index kComponents = 5;
constexpr double kAlpha = 0.95;
constexpr double kRounding = 1e-9;

Config config_for(const Matrix& basis, Index particles, std::uint64_t seed) {
  Config config;
  config.num_components = kComponents;
  config.initial_basis = reference::perturbed(basis, 0.5, seed);
  config.prior.name = "relaxed-selection";
  config.prior.parameters = {scalar_parameter("alpha", 0.8)};
  config.engine.kind = EngineKind::kParticle;
  config.engine.num_particles = particles;
  config.seed = bench::filter_seed(seed);
  return config;
}

const ParticleFilter& filter_of(const Session& session) {
  return dynamic_cast<const ParticleEngine&>(session.learner()->engine()).filter();
}

// A state is the distance to the nearer edge, at most 1/2, with a sign for the side.
const char* trouble_in(const ParticleFilter& filter) {
  const auto& states = filter.states().array();
  if (!states.isFinite().all()) return "a state is not finite";
  if ((states.abs() > 0.5).any()) return "a state is past the middle";
  if ((states == 0).any()) return "a state is on the edge";
  const auto& x = filter.activations().array();
  if (!(x >= 0 && x <= 1).all()) return "an activation is outside [0, 1]";
  const auto& weights = filter.weights().array();
  if (!(weights >= 0 && weights <= 1).all()) return "a weight is outside [0, 1]";
  if (!(std::abs(weights.sum() - 1) < kRounding)) return "weights do not sum to 1";
  return nullptr;
}

const char* trouble_in(const Estimate& estimate) {
  if (!(estimate.basis.array().isFinite() && estimate.basis.array() >= 0).all()) {
    return "the basis is not finite and 0 or more";
  }
  const double alpha = estimate.prior.parameters().front().value(0);
  if (!(alpha > 0 && alpha < 1)) return "alpha is outside (0, 1)";
  return nullptr;
}

const char* trouble_in(const Session& session) {
  const char* trouble = trouble_in(filter_of(session));
  return trouble != nullptr ? trouble : trouble_in(session.learner()->last());
}

}  // namespace

int main(int argc, char** argv) {
  const Index length = argc > 1 ? std::atol(argv[1]) : 1000000;
  const Index particles = argc > 2 ? std::atol(argv[2]) : 100;
  const auto seed = static_cast<std::uint64_t>(argc > 3 ? std::atol(argv[3]) : 1);
  const Matrix basis = random_basis(8, kComponents, 10, seed);
  Simulator simulator(AnyPrior(RelaxedSelection(kComponents, kAlpha)), basis, seed);
  Session session(config_for(basis, particles, seed));
  double nearest = 1;  // smallest distance to an edge
  for (Index t = 1; t <= length; ++t) {
    simulator.next();
    session.update(simulator.observation());
    if (const char* trouble = trouble_in(session)) {
      fmt::print("observation {}: {}\n", t, trouble);
      return EXIT_FAILURE;
    }
    nearest = std::min(nearest, filter_of(session).states().cwiseAbs().minCoeff());
  }
  session.finish();
  const Model model = session.model();
  const Matrix found = in_order_of(model.reported.basis, basis);
  fmt::print("Relaxed selection, {} observations, {} particles, seed {}: no trouble\n\n", length,
             particles, seed);
  fmt::print("smallest distance to an edge  {:.1e}\n", nearest);
  fmt::print("impossible observations       {}\n", model.impossible_observations);
  fmt::print("relative error of the basis   {:.4f}\n", relative_error(found, basis));
  fmt::print("alpha                         {:.5f} (truth {})\n",
             model.reported.prior.parameters().front().value(0), kAlpha);
}
