#pragma once

#include <span>
#include <vector>

#include "headwater/smoothers/particle_step.hpp"
#include "headwater/smoothers/window.hpp"

namespace headwater {

// What the genealogy of a particle filter keeps of one step: the particles that have descendants,
// in their order. The states of the newest step, which has lost none yet, are the filter's own.
struct LineageStep {
  void exchange(StateArchive& archive, const ParticleFilter& filter, bool is_newest);

  Index count = 0;        // particles that are kept
  Matrix states;          // the first `count` rows; room for all particles
  Ancestors parents;      // of each, its row in the step before; ascending
  bool is_loose = false;  // may have particles whose descendants have died out since
  Observation observation;
  double step_size = 0;
};

// The recent steps of a particle filter, oldest first, as a genealogy. After some steps most
// particles have no descendants left: what is remembered, and what a sweep goes over, gets small.
class Lineages {
 public:
  using Steps = StepRing<LineageStep>;

  // The step that the filter has just made. Of the one before, those that died out are dropped.
  void remember(Steps& steps, const ParticleFilter& filter, const Observation& y, double step_size);
  // Drops all that have no descendants in the newest step; but for the oldest step, whose rows
  // somebody may refer to.
  void prune(Steps& steps);

  // Window: Steps or a class with more members.
  template <class Window>
  static void exchange(Window& steps, StateArchive& archive, const ParticleFilter& filter) {
    Index exchanged = 0;
    steps.exchange(archive, [&](LineageStep& step) {
      step.exchange(archive, filter, ++exchanged == steps.size());
    });
    if (archive.is_reading()) check_parents(steps, archive);
  }

 private:
  static void check_parents(const Steps& steps, StateArchive& archive);
  void keep_parents(LineageStep& before, const ParticleFilter& filter);

  Ancestors kept_;  // rows that have children
};

// The statistics of a genealogy by one pass back over it: what ParticleSweep with GenealogyKernel
// computes, to the last bit.
class LineageSweep {
 public:
  explicit LineageSweep(const Emission& emission) : sums_(emission.sums()) {}

  // After Lineages::prune(). coefficients: what each step's observation counts for; nothing is
  // added for one of 0. Moves into the oldest step are not counted.
  void run(const Lineages::Steps& steps, std::span<const double> coefficients,
           const ParticleFilter& filter, Statistics& statistics);
  // Afterwards: how much of the newest step's law descends from each particle of the oldest.
  const Vector& oldest_law() const { return law_; }

 private:
  void add(const Lineages::Steps& steps, Index s, double coefficient, const ParticleFilter& filter,
           Statistics& statistics);
  // weights_: of the particles with these states and parents.
  void add_particles(const Lineages::Steps& steps, Index s, const Eigen::Ref<const Matrix>& states,
                     const Ancestors& parents, const ParticleFilter& filter,
                     Statistics& statistics);
  void pull_back(const LineageStep& step, Index num_before);

  ClonePointer<EmissionSums> sums_;
  ChosenActivations activations_;
  Ancestors chosen_;  // particles that the law gives any weight, if it does not to all
  Ancestors parents_of_chosen_;
  Matrix chosen_states_;
  Matrix before_states_;
  Vector weights_;  // what particles weigh in the statistics
  Vector law_;      // of the particles of the step that the pass is at; the first of these numbers
  Vector before_law_;
};

// The states of a step's particles.
Eigen::Ref<const Matrix> states_of(const Lineages::Steps& steps, Index s,
                                   const ParticleFilter& filter);

}  // namespace headwater
