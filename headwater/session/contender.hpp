#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "headwater/config.hpp"
#include "headwater/learning/online_em.hpp"
#include "headwater/learning/outlier_guard.hpp"
#include "headwater/observation.hpp"
#include "headwater/reports.hpp"
#include "headwater/session/average_prediction.hpp"

namespace headwater {

// A start, and what the fit from there has to know of it.
struct Start {
  Estimate estimate;
  BasisExpectation expectation = {};
  StartReport report = {};
};

// A fit of the stream from one start. Of those that there are, one leads: its predictions are
// published.
struct Contender {
  // Its first M-step waits for so many observations; kNever: it only filters. From the first few
  // observations EM would learn that channels which have been silent so far are silent for ever.
  std::int64_t waits_for = 0;
  static constexpr std::int64_t kNever = kMostObservations;
  bool is_provisional() const { return waits_for == kNever; }

  StartReport report;  // of the search for its start
  OnlineEm learner;
  OutlierGuard guard = {};
  std::int64_t outliers = 0;
  std::int64_t first_outlier = 0;
  // From the first M-step on, where there is one, unless it rests.
  std::optional<AveragePrediction> average = {};
  AverageTrials trials = {};

  // The observation is predicted by the learner, or by its average.
  StepReport step(const Observation& y, bool predicts_by_average,
                  const OnlineEm::BeforeMStep& before_m_step);
  void finish();
  // See OnlineEm::take_up.
  void take_up(Estimate estimate, const OnlineEm::StatisticsOf& statistics_of);
  bool is_by_average() const { return average && average->leads(); }
  // Which has predicted the last observation.
  const Engine& engine() const {
    return is_by_average() ? average->filter().engine() : learner.engine();
  }
  Vector filtered_activation() const {
    return is_by_average() ? average->filter().filtered_activation()
                           : learner.filtered_activation();
  }
  void exchange_average(StateArchive& archive);

 private:
  void follow_average();
};

// The leader and a rival predict the same observations, until it is clear whose fit goes on. All
// that enters was predicted before it came.
class Race {
 public:
  Race() = default;
  // Up to observation `last`. The rival must have predicted better by so many standard errors.
  Race(std::int64_t last, double standard_errors)
      : last_(last), standard_errors_(standard_errors) {}
  // A fit is judged by its predictions of a quarter as many observations as it began with.
  static Race after(std::int64_t observations, double standard_errors) {
    return {observations + observations / 4, standard_errors};
  }
  // The fit from the last start leads at once, since it has seen most; the one before may only come
  // back if it is better by so many standard errors.
  static constexpr double kClearly = 3;

  void add(const FilterStep& leader, const FilterStep& rival);
  bool is_over(std::int64_t t) const { return t >= last_; }
  bool rival_wins() const;

  void exchange(StateArchive& archive);

 private:
  std::int64_t last_ = 0;
  double standard_errors_ = 0;
  double count_ = 0;
  double sum_ = 0;      // of what the rival gained
  double squares_ = 0;  // of the same
};

// After how many observations a fit that is under way is started anew.
enum class Rung {
  kNone,
  kProvisional,  // from the mean of what was seen, if the fit under way is from such a start
  kSearch,       // a light search for a start, whose fit competes with the one under way
  kFull,         // the start that the fit goes on with
};

// Of `full` observations the last start is found. With a search for it, lighter ones come after 50,
// 200, 1,000, 4,000, 16,000, ... observations, up to half of that. Provisional starts come
// after 2, 3, 4, 6, 8, 12, 16, ... observations.
Rung rung_at(std::int64_t observations, std::int64_t full, bool searches);

// Whether a provisional fit takes up the mean of all that has come, after so many observations:
// after each of the first 64, and then 32 times while they double. Not where a mean of so many
// cells costs more than the steps do.
bool is_mean_due(std::int64_t observations, Index num_channels);

// Whether the fit under way is to look at all observations so far at once: each time that their
// number has doubled since the last start was found.
bool is_look_due(std::int64_t observations, std::int64_t full);

// The log-probability of an observation when nothing at all was seen before, not even how large
// counts are: the count n of a cell has the probability 1 / ((n + 1) (n + 2)), which is a geometric
// law with a parameter that is uniform on (0, 1).
double log_probability_of_first(const Observation& y);

}  // namespace headwater
