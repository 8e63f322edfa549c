#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "headwater/engines/beam_engine.hpp"
#include "headwater/engines/exact_engine.hpp"
#include "headwater/engines/fast_engine.hpp"
#include "headwater/engines/particle_engine.hpp"
#include "headwater/learning/online_em.hpp"
#include "headwater/models/finite_prior.hpp"
#include "headwater/models/gamma_prior.hpp"
#include "headwater/models/log_gaussian.hpp"
#include "headwater/reference/particle_runs.hpp"
#include "headwater/simulate.hpp"

// What tests of learning under laws that are not Poisson's have in common: five channels of two
// sources, and an online learner by each engine and smoother.
namespace headwater::reference {

// Means are 3 at least.
inline const Matrix& learned_basis() {
  static const Matrix basis = (Matrix(5, 2) << 8, 3, 2, 9, 6, 6, 10, 4, 3, 5).finished();
  return basis;
}

inline AnyPrior three_states() {
  const Matrix states = (Matrix(3, 2) << 1, 0.4, 0.5, 1, 1.5, 1.2).finished();
  const Matrix transition =
      (Matrix(3, 3) << 0.8, 0.1, 0.1, 0.2, 0.7, 0.1, 0.2, 0.2, 0.6).finished();
  return AnyPrior(FiniteStatePrior(states, transition));
}

inline AnyPrior logarithms() { return AnyPrior(LogGaussian(2, 0.3, 0.5)); }
inline AnyPrior gammas() { return AnyPrior(GammaPrior(2, 4, 0.3)); }

// One cell in ten is missing, one in ten has half the exposure.
inline Record imperfect_record(const AnyPrior& prior, const AnyLaw& law, Index length) {
  const Matrix& basis = learned_basis();
  Simulator simulator(prior, Emission(basis, law), 7);
  const RandomStream random(8);
  Record record;
  for (Index t = 0; t < length; ++t) {
    simulator.next();
    std::vector<double> counts = simulator.observation();
    std::vector<double> exposures(counts.size(), 1);
    Generator generator = random.at(static_cast<std::uint64_t>(t), 0, Purpose::observation);
    const Eigen::Map<const Vector> x(simulator.activation().data(), basis.cols());
    for (Index m = 0; m < basis.rows(); ++m) {
      const auto cell = static_cast<std::size_t>(m);
      const double u = generator.uniform();
      if (u < 0.1) counts[cell] = std::numeric_limits<double>::quiet_NaN();
      if (u > 0.9) {
        exposures[cell] = 0.5;
        counts[cell] = law->draw(m, 0.5 * basis.row(m).dot(x), generator);
      }
    }
    record.add(Observation(counts, exposures));
  }
  return record;
}

struct Learner {
  const char* name;
  AnyPrior prior;
  std::vector<std::string> held;  // of the prior's parameters
  std::function<std::unique_ptr<Engine>(const Estimate&)> make;

  OnlineEm from(const Estimate& start) const {
    OnlineEmOptions options;
    options.m_step.held_parameters = held;
    return {make(start), start, options};
  }
};

inline std::function<std::unique_ptr<Engine>(const Estimate&)> exact_by(
    ExactEngineOptions::Smoother smoother) {
  return [=](const Estimate& start) {
    ExactEngineOptions options;
    options.smoother = smoother;
    return std::make_unique<ExactEngine>(start.prior, start.emission(), options);
  };
}

inline std::function<std::unique_ptr<Engine>(const Estimate&)> particles_by(
    ParticleEngineOptions::Smoother smoother, bool guided, Index num_particles) {
  return [=](const Estimate& start) {
    auto options = particle_options(smoother, num_particles);
    options.filter.guided = guided;
    return std::make_unique<ParticleEngine>(start.prior, start.emission(), options, threads(1));
  };
}

inline std::unique_ptr<Engine> make_beam(const Estimate& start) {
  return std::make_unique<BeamEngine>(start.prior, start.emission(), BeamEngineOptions());
}

inline std::unique_ptr<Engine> make_fast(const Estimate& start) {
  return std::make_unique<FastEngine>(start.prior, start.emission(), FastEngineOptions());
}

inline std::vector<Learner> all_learners() {
  using Exact = ExactEngineOptions::Smoother;
  using Particles = ParticleEngineOptions::Smoother;
  return {
      {"exact, lag", three_states(), {}, exact_by(Exact::kWindow)},
      {"exact, forward", three_states(), {}, exact_by(Exact::kForward)},
      {"exact, as printed", three_states(), {}, exact_by(Exact::kForwardAsPrinted)},
      {"beam", three_states(), {}, make_beam},
      {"lag", three_states(), {"transition"}, particles_by(Particles::kLag, false, 100)},
      {"lag, guided", three_states(), {"transition"}, particles_by(Particles::kLag, true, 50)},
      {"path", three_states(), {"transition"}, particles_by(Particles::kPath, true, 50)},
      {"path as printed",
       three_states(),
       {"transition"},
       particles_by(Particles::kPathAsPrinted, true, 30)},
      {"paris", three_states(), {"transition"}, particles_by(Particles::kParis, true, 50)},
      {"forward", three_states(), {"transition"}, particles_by(Particles::kForward, true, 30)},
      {"lag, guided, log-gaussian",
       logarithms(),
       {"persistence"},
       particles_by(Particles::kLag, true, 100)},
      {"lag, guided, gamma",
       gammas(),
       {"persistence", "shape"},
       particles_by(Particles::kLag, true, 100)},
      {"fast, log-gaussian", logarithms(), {"persistence"}, make_fast},
      {"fast, gamma", gammas(), {"persistence", "shape"}, make_fast},
  };
}

// What has been learned, of the law too, is in the saved state, whatever the learner that takes it
// up was made with: `other`.
inline void expect_saved_state_goes_on(const Learner& learner, const Record& record,
                                       const Estimate& start, const Estimate& other) {
  const auto law_of = [](const Estimate& estimate) { return estimate.law.parameters()[0].value; };
  const Index half = record.size() / 2;
  OnlineEm em = learner.from(start);
  for (Index t = 0; t < half; ++t) em.update(record[t]);
  ASSERT_NE(law_of(em.last()), law_of(start)) << learner.name;
  StateArchive writing;
  em.exchange(writing);
  OnlineEm again = learner.from(other);
  StateArchive reading(writing.bytes());
  again.exchange(reading);
  reading.expect_end();
  for (Index t = half; t < record.size(); ++t) {
    ASSERT_EQ(again.update(record[t]).filter.log_predictive,
              em.update(record[t]).filter.log_predictive)
        << learner.name << ", observation " << t;
  }
  em.finish();
  again.finish();
  EXPECT_EQ(again.reported().basis, em.reported().basis) << learner.name;
  EXPECT_EQ(law_of(again.reported()), law_of(em.reported())) << learner.name;
  EXPECT_EQ(again.log_likelihood(), em.log_likelihood()) << learner.name;
}

}  // namespace headwater::reference
