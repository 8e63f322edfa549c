#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headwater/session.hpp"

// A fit while it runs, for those who look on: state.json of kind "live", and Prometheus metrics.
namespace headwater {

// The fit at one moment. Once made it is never changed, so that other threads can read it while the
// fit goes on.
struct LiveSnapshot {
  struct Sample {               // a stretch of the stream between two snapshots
    double seconds = 0;         // since the fit began
    std::int64_t t = 0;         // its last observation
    double log_predictive = 0;  // the mean of the possible ones
    double least_log_predictive = 0;
    double effective_part = 0;        // of the particles, at its end; NaN without
    std::vector<double> activations;  // at its end
  };
  struct Surprise {
    std::int64_t t = 0;
    std::string time;
    double log_predictive = 0;
    double excess = 0;  // of -log p over its recent mean, in standard deviations
  };

  std::string data;
  std::vector<std::string> names;
  std::string prior;
  Parameters parameters;
  std::string law;
  std::string engine;
  std::string method;
  std::uint64_t seed = 0;
  Index channels = 0;  // 0: not known yet
  Index components = 0;
  bool background = false;
  Matrix basis;  // M x K, background last; empty until the start is chosen
  bool has_started = false;
  bool is_finished = false;

  std::int64_t rows = 0;          // read from the data
  std::int64_t observations = 0;  // taken in
  std::int64_t impossible = 0;
  std::int64_t outliers = 0;
  std::int64_t surprising = 0;  // more than kSurprising standard deviations
  std::int64_t bad_rows = 0;
  std::int64_t m_steps = 0;
  std::int64_t revivals = 0;
  std::int64_t resamplings = 0;
  std::int64_t checkpoints = 0;
  std::int64_t checkpoint_rows = 0;  // that the last one has
  double log_likelihood = 0;
  double recent_log_predictive = 0;  // a mean over some hundred observations
  std::optional<double> effective_part;
  double start_time = 0;  // seconds since 1970
  double now = 0;
  double last_row_time = 0;
  double rate = 0;  // observations a second, lately

  std::deque<Sample> samples;      // the last minutes
  std::deque<Surprise> surprises;  // the last ones
};

std::string live_state_json(const LiveSnapshot& snapshot);
// The text format of Prometheus, version 0.0.4.
std::string prometheus_text(const LiveSnapshot& snapshot);

// Watches a fit. What it does for each observation takes a few nanoseconds; a snapshot is made a
// few times a second at most, whatever the rate of the stream.
class LiveWatch {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr double kSurprising = 6;

  explicit LiveWatch(std::string data_name, std::chrono::milliseconds interval);

  void add(const StepReport& report, Index num_particles);
  void add_row() {
    ++now_.rows;
    has_new_row_ = true;
  }
  void set_channels(Index channels, std::vector<std::string> names) {
    now_.channels = channels;
    now_.names = std::move(names);
  }
  void add_bad_row() { ++now_.bad_rows; }
  // When a surprise was: called for few observations.
  template <class TimeText>
  void add(const StepReport& report, Index num_particles, const TimeText& time_text) {
    const std::size_t before = num_noted_;
    add(report, num_particles);
    if (num_noted_ != before) now_.surprises.back().time = time_text(*report.observation);
  }
  void set_checkpoint(std::int64_t count, std::int64_t rows) {
    now_.checkpoints = count;
    now_.checkpoint_rows = rows;
  }

  bool is_due() const { return Clock::now() >= next_; }
  // The same for every observation of a fast stream: while they follow each other closely, the
  // clock is read for one of them in 64.
  bool is_due_in_passing();
  std::shared_ptr<const LiveSnapshot> snapshot(const Session& session, bool is_finished = false);

 private:
  void add_sample(const Session& session, double seconds);

  LiveSnapshot now_;
  std::chrono::milliseconds interval_;
  Clock::time_point start_;
  Clock::time_point next_;
  bool has_new_row_ = false;
  Clock::time_point last_look_;
  int stride_ = 1;
  int passed_ = 0;
  std::size_t num_noted_ = 0;
  // Since the last sample.
  double sum_ = 0;
  double least_ = 0;
  std::int64_t count_ = 0;
  std::int64_t last_t_ = 0;
  double last_seconds_ = 0;
  // Recent mean and variance of -log p.
  double mean_ = 0;
  double variance_ = 0;
  std::int64_t settled_ = 0;
};

}  // namespace headwater
