#pragma once

#include <cstdint>
#include <vector>

#include "headwater/emission/statistics.hpp"
#include "headwater/learning/outlier_guard.hpp"
#include "headwater/reports.hpp"

namespace headwater {

// What a fit by rounds reports of one observation.
struct SequenceRow {
  FilterStep filter;
  Vector activation;  // E[x_t | y_1..t], in the engine's own scale
  bool is_outlier = false;

  void exchange(StateArchive& archive);
};

// Sums over the observations of sequences that were filtered and smoothed under the same
// parameters.
struct RoundSums {
  // Sums, where an engine has means. Those of a phase are sums over its visits.
  Statistics statistics{0, 0, 0};
  std::int64_t sequences = 0;
  std::int64_t observations = 0;
  std::int64_t impossible = 0;
  std::int64_t outliers = 0;
  std::int64_t first_outlier = 0;  // from 1, counted from the first observation; 0: none
  double log_likelihood = 0;
  double lost_mass = 0;  // see BeamReport
  OutlierGuard guard;    // with the largest counts so far

  // Of the sequences that nothing was reported of before. (The first ones are predicted one by one,
  // while a start is found.)
  struct News {
    std::int64_t observations = 0;
    std::int64_t impossible = 0;
    std::int64_t first_impossible = 0;  // from 1, counted from the first of these observations
    double log_likelihood = 0;
    ParticleHealth health;

    void exchange(StateArchive& archive);
  };
  News news;
  std::vector<SequenceRow> rows;  // of these, where they are wanted

  // The statistics of one sequence, whose means the engine has.
  void set_means(const Statistics& means, std::int64_t num_observations);
  // Adds those of the sequences that follow on these.
  void add(const RoundSums& next);
  // The observations enter the averages with the weight `weight` altogether, and the same each.
  void enter(double weight, Statistics& averages) const;
  bool fits(const RoundSums& other) const;  // whether both are of the same size
  void exchange(StateArchive& archive);
};

}  // namespace headwater
