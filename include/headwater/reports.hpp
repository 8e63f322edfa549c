#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "headwater/export.hpp"
#include "headwater/matrix.hpp"
#include "headwater/state_archive.hpp"

// Reports of filters and fits.
namespace headwater {

class Observation;

// The report of a particle filter on one step.
struct ParticleReport {
  double effective_size = 0;   // 1 / sum of squared weights
  bool resampled = false;      // whether the step began with a resampling
  bool guided = false;         // whether particles looked at the observation before they moved
  Index bridge_stages = 0;     // tempering stages between their draws and their weights
  Index unique_ancestors = 0;  // particles of the step before that have descendants in this one
};

// The report of a beam filter.
struct BeamReport {
  double effective_size = 0;
  Index num_states = 0;  // that were kept
  // The probability of the states that were considered and not kept.
  double lost_mass = 0;
};

// The report of a fast filter.
struct FastReport {
  double effective_size = 0;  // of the draws that correct the law; 0 where it is not corrected
};

// The report of any filter on one observation.
struct FilterStep {
  double log_predictive = 0;  // log p(y_t | y_1..t-1) under the parameters of the time
  // No state could have produced this observation. The law stays as predicted, as if the
  // observation were missing, and log_predictive is -infinity.
  bool impossible = false;

  // What is particular to the filter; an exact filter has nothing to add.
  std::variant<std::monostate, ParticleReport, BeamReport, FastReport> of_filter;

  const ParticleReport* particles() const { return std::get_if<ParticleReport>(&of_filter); }
  const BeamReport* beam() const { return std::get_if<BeamReport>(&of_filter); }
};

// The report of a fit on one observation.
struct StepReport {
  std::int64_t t = 0;
  const Observation* observation = nullptr;  // what update() was given
  FilterStep filter;
  double step_size = 0;
  bool updated = false;      // whether an M-step followed
  bool is_outlier = false;   // whether it was treated as missing (see OutlierGuard)
  bool in_start = false;     // whether a search for a start uses this observation, or
                             // may still use it; it was predicted before that
  bool provisional = false;  // whether no search for a start was finished when it was predicted
  bool by_average = false;   // whether the average of the iterates predicted it, not the last one
  bool is_blind = false;     // whether nothing had been seen before it, not even the scale
  Index revived = -1;        // the component that was given a new column, if one was
};

// How well a prior has predicted observations that were held back: see prior 'auto'.
struct PriorScore {
  std::string prior;
  std::string law;            // of the counts, as it was chosen with this prior
  double score = 0;           // mean of log p(y_t | y_1..t-1), in nats an observation
  double standard_error = 0;  // of its difference to the score of the chosen one; 0 for that one
  bool chosen = false;

  void exchange(StateArchive& archive) { archive(prior, law, score, standard_error, chosen); }
};

// The result of a search for a start.
struct StartReport {
  struct Trial {
    std::string name;             // where it began: "cumulants", "factorisation", "random 1", ...
    double log_likelihood = 0;    // an observation, when it was last looked at
    std::int64_t iterations = 0;  // of EM

    void exchange(StateArchive& archive) { archive(name, log_likelihood, iterations); }
  };
  // Two laws of the counts that predicted held-out observations, the second one with more
  // parameters.
  struct LawChoice {
    std::string chosen;
    std::string richer;  // the one with more parameters, chosen or not
    double gain = 0;     // of the law with more parameters, in nats an observation
    double standard_error = 0;

    void exchange(StateArchive& archive) { archive(chosen, richer, gain, standard_error); }
  };
  // How strongly entries of the basis are drawn to averages: see BasisExpectation.
  struct BasisPrior {
    double counts = 0;  // the weight of the averages; 0: entries are not drawn to them
    double gain = 0;    // over the usual weight, in nats an observation
    double standard_error = 0;

    void exchange(StateArchive& archive) { archive(counts, gain, standard_error); }
  };
  // Whether steps after the start are small, so that it is forgotten slowly (see --step).
  struct MemoryChoice {
    bool is_long = false;
    double gain = 0;  // of small steps, in nats an observation
    double standard_error = 0;

    void exchange(StateArchive& archive) { archive(is_long, gain, standard_error); }
  };
  // A period that was found: see --period auto.
  struct PeriodChoice {
    Index period = 0;
    double gain = 0;  // of means by the phase over plain means, in nats an observation
    double standard_error = 0;

    void exchange(StateArchive& archive) { archive(period, gain, standard_error); }
  };
  std::vector<Trial> trials;
  std::string chosen;
  std::vector<LawChoice> laws;     // one choice after the other; empty where there was none
  std::vector<PriorScore> priors;  // those that were compared; may be empty
  BasisPrior basis_prior;
  MemoryChoice memory;
  bool looked_for_periods = false;
  std::vector<PeriodChoice> periods;
  // Laws could not be compared, since the counts held out were too few: levels that drift were
  // taken unasked.
  bool too_few_for_laws = false;
  // The law that was chosen has proved too narrow, and was given up after so many observations; 0:
  // it was not.
  std::int64_t widened_after = 0;

  void exchange(StateArchive& archive) {
    archive(trials, chosen, laws, priors, basis_prior, memory, looked_for_periods, periods,
            too_few_for_laws, widened_after);
  }
};

// Whether enough particles carry the weight, over many steps.
class HEADWATER_EXPORT ParticleHealth {
 public:
  void add(const ParticleReport& step, Index num_particles);
  void merge(const ParticleHealth& later);  // adds the steps that came after these

  std::int64_t steps() const { return steps_; }
  double mean_part() const;  // effective size over the number of particles
  double recent_part() const { return recent_; }
  double mean_stages() const;                      // of bridging, in a step
  bool was_guided() const { return was_guided_; }  // in a step or more

  void exchange(StateArchive& archive) { archive(steps_, sum_, stages_, recent_, was_guided_); }

  // Below this, so few particles carry the weight that estimates are hardly better than with one.
  static constexpr double kLowPart = 0.05;
  bool is_low() const { return steps_ >= kFewSteps && mean_part() < kLowPart; }
  bool is_low_now() const { return steps_ >= kFewSteps && recent_ < kLowPart; }

 private:
  static constexpr std::int64_t kFewSteps = 100;

  std::int64_t steps_ = 0;
  double sum_ = 0;
  double stages_ = 0;
  double recent_ = 0;
  bool was_guided_ = false;
};

}  // namespace headwater
