#include "headwater/report/live_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "headwater/io/text/json.hpp"
#include "headwater/io/text/parameter_json.hpp"
#include "headwater/learning/online_em.hpp"
#include "headwater/report/state_json.hpp"

namespace headwater {

namespace {

constexpr std::size_t kSamples = 600;
constexpr std::size_t kSurprisesKept = 12;
constexpr double kForget = 1.0 / 256;    // of the recent mean of -log p
constexpr std::int64_t kSettling = 100;  // observations before a surprise is told
constexpr Index kMostEntries = 200'000;  // of a basis that is shown

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

LiveWatch::LiveWatch(std::string data_name, std::chrono::milliseconds interval)
    : interval_(interval), start_(Clock::now()), next_(start_), last_look_(start_) {
  now_.data = std::move(data_name);
  now_.start_time = seconds_since_1970();
  now_.last_row_time = now_.start_time;
}

void LiveWatch::add(const StepReport& report, Index num_particles) {
  const FilterStep& step = report.filter;
  now_.observations = report.t;
  now_.outliers += report.is_outlier;
  if (const ParticleReport* particles = step.particles()) {
    now_.resamplings += particles->resampled;
    now_.effective_part = particles->effective_size / static_cast<double>(num_particles);
  }
  if (!std::isfinite(step.log_predictive)) return;
  if (count_ == 0 || step.log_predictive < least_) least_ = step.log_predictive;
  sum_ += step.log_predictive;
  ++count_;
  const double away = -step.log_predictive - mean_;
  ++settled_;
  const double weight = std::max(kForget, 1.0 / static_cast<double>(settled_));
  if (settled_ > kSettling && away > 0 && away * away > kSurprising * kSurprising * variance_) {
    ++now_.surprising;
    ++num_noted_;
    now_.surprises.push_back(
        {report.t, "", step.log_predictive, away / std::sqrt(std::max(variance_, 1e-300))});
    if (now_.surprises.size() > kSurprisesKept) now_.surprises.pop_front();
  }
  mean_ += weight * away;
  variance_ = (1 - weight) * (variance_ + weight * away * away);
}

bool LiveWatch::is_due_in_passing() {
  if (++passed_ < stride_) return false;
  passed_ = 0;
  const Clock::time_point clock = Clock::now();
  stride_ = clock - last_look_ < interval_ / 64 ? std::min(2 * stride_, 64) : 1;
  last_look_ = clock;
  return clock >= next_;
}

void LiveWatch::add_sample(const Session& session, double seconds) {
  if (count_ == 0) return;
  LiveSnapshot::Sample sample;
  sample.seconds = seconds;
  sample.t = now_.observations;
  sample.log_predictive = sum_ / static_cast<double>(count_);
  sample.least_log_predictive = least_;
  sample.effective_part = now_.effective_part.value_or(std::numeric_limits<double>::quiet_NaN());
  if (session.learner() != nullptr) {
    const Vector x = session.filtered_activation();
    sample.activations.assign(x.begin(), x.end());
  }
  now_.samples.push_back(std::move(sample));
  if (now_.samples.size() > kSamples) now_.samples.pop_front();
  sum_ = 0;
  count_ = 0;
}

std::shared_ptr<const LiveSnapshot> LiveWatch::snapshot(const Session& session, bool is_finished) {
  const Clock::time_point clock = Clock::now();
  next_ = clock + interval_;
  const double seconds = std::chrono::duration<double>(clock - start_).count();
  add_sample(session, seconds);
  now_.now = seconds_since_1970();
  if (has_new_row_) now_.last_row_time = now_.now;
  has_new_row_ = false;
  if (seconds > last_seconds_) {
    const double rate =
        static_cast<double>(now_.observations - last_t_) / (seconds - last_seconds_);
    now_.rate = now_.rate == 0 ? rate : now_.rate + 0.3 * (rate - now_.rate);
  }
  last_t_ = now_.observations;
  last_seconds_ = seconds;
  const Config& config = session.config();
  now_.recent_log_predictive = -mean_;
  now_.components = config.num_components;
  now_.background = config.background;
  now_.seed = config.seed;
  now_.method = to_string(config.method);
  now_.engine = to_string(session.engine().kind);
  now_.is_finished = is_finished;
  const OnlineEm* learner = session.learner();
  now_.has_started = session.is_settled();
  now_.log_likelihood = session.log_likelihood();
  if (learner != nullptr) {
    now_.impossible = learner->impossible_observations();
    now_.m_steps = learner->m_steps();
    now_.revivals = learner->revivals();
  }
  if (learner != nullptr) {
    const Estimate estimate = learner->reported();
    now_.prior = estimate.prior.name();
    now_.parameters = estimate.prior.parameters();
    now_.law = estimate.law->name();
    if (estimate.basis.size() <= kMostEntries) now_.basis = estimate.basis;
  }
  return std::make_shared<const LiveSnapshot>(now_);
}

namespace {

void write_samples(JsonWriter& json, const LiveSnapshot& live) {
  const auto write = [&](const char* name, int digits, auto value_in) {
    json.key(name).begin_array();
    for (const LiveSnapshot::Sample& sample : live.samples) json.rounded(value_in(sample), digits);
    json.end_array();
  };
  using Sample = LiveSnapshot::Sample;
  json.key("samples").begin_object();
  write("seconds", 7, [](const Sample& s) { return s.seconds; });
  write("t", 15, [](const Sample& s) { return static_cast<double>(s.t); });
  write("log_predictive", 5, [](const Sample& s) { return s.log_predictive; });
  write("least_log_predictive", 5, [](const Sample& s) { return s.least_log_predictive; });
  if (live.effective_part)
    write("effective_part", 3, [](const Sample& s) { return s.effective_part; });
  json.key("activations").begin_array();
  for (Index k = 0; k < live.components; ++k) {
    json.begin_array();
    for (const Sample& sample : live.samples) {
      const auto at = static_cast<std::size_t>(k);
      json.rounded(at < sample.activations.size() ? sample.activations[at]
                                                  : std::numeric_limits<double>::quiet_NaN(),
                   4);
    }
    json.end_array();
  }
  json.end_array();
  json.end_object();
}

}  // namespace

std::string live_state_json(const LiveSnapshot& live) {
  JsonWriter json;
  json.begin_object();
  json.key("format").value("headwater-state");
  json.key("version").value(kStateVersion);
  json.key("kind").value("live");
  json.key("data").value(live.data);
  json.key("model").begin_object();
  json.key("channels").value(live.channels);
  json.key("components").value(live.components);
  json.key("background").value(live.background);
  json.key("observations").value(live.observations);
  json.key("log_likelihood").value(live.log_likelihood);
  json.key("impossible_observations").value(live.impossible);
  json.key("outliers").value(live.outliers);
  json.key("revivals").value(live.revivals);
  json.key("prior").begin_object();
  json.key("name").value(live.prior);
  json.key("parameters");
  write_parameters(json, live.parameters);
  json.end_object();
  json.key("counts").begin_object().key("law").value(live.law).end_object();
  json.key("engine").value(live.engine);
  json.key("method").value(live.method);
  json.key("iterations").value(live.m_steps);
  json.key("seed").value(live.seed);
  json.key("version").value(version());
  json.end_object();
  json.key("channels").begin_array();
  for (Index m = 0; m < live.channels; ++m) {
    const auto at = static_cast<std::size_t>(m);
    json.value(at < live.names.size() ? live.names[at] : fmt::format("{}", m + 1));
  }
  json.end_array();
  json.key("basis").begin_array();
  for (Index m = 0; m < live.basis.rows(); ++m) {
    json.begin_array();
    for (const double value : live.basis.row(m)) json.rounded(value, 6);
    json.end_array();
  }
  json.end_array();
  json.key("live").begin_object();
  json.key("has_started").value(live.has_started);
  json.key("is_finished").value(live.is_finished);
  json.key("rows").value(live.rows);
  json.key("bad_rows").value(live.bad_rows);
  json.key("rate").rounded(live.rate, 4);
  json.key("seconds").rounded(live.now - live.start_time, 8);
  json.key("silent_seconds").rounded(live.now - live.last_row_time, 6);
  json.key("recent_log_predictive").value(live.recent_log_predictive);
  json.key("surprising").value(live.surprising);
  if (live.effective_part) json.key("effective_part").value(*live.effective_part);
  json.key("checkpoints").value(live.checkpoints);
  json.key("checkpoint_rows").value(live.checkpoint_rows);
  write_samples(json, live);
  json.key("surprises").begin_array();
  for (auto row = live.surprises.rbegin(); row != live.surprises.rend(); ++row) {
    json.begin_object();
    json.key("t").value(row->t);
    if (!row->time.empty()) json.key("time").value(row->time);
    json.key("log_predictive").rounded(row->log_predictive, 6);
    json.key("excess").rounded(row->excess, 4);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  json.end_object();
  return json.text();
}

std::string prometheus_text(const LiveSnapshot& live) {
  std::string text;
  const auto add = [&](const char* name, const char* type, const char* help, double value) {
    text += fmt::format("# HELP headwater_{0} {1}\n# TYPE headwater_{0} {2}\nheadwater_{0} {3}\n",
                        name, help, type, value);
  };
  const auto counter = [&](const char* name, const char* help, std::int64_t value) {
    add(name, "counter", help, static_cast<double>(value));
  };
  const auto gauge = [&](const char* name, const char* help, double value) {
    add(name, "gauge", help, value);
  };
  text += fmt::format(
      "# HELP headwater_build_info The version of headwater.\n# TYPE headwater_build_info gauge\n"
      "headwater_build_info{{version=\"{}\"}} 1\n",
      version());
  counter("rows_total", "Rows read from the data.", live.rows);
  counter("bad_rows_total", "Rows that could not be read and were left out.", live.bad_rows);
  counter("observations_total", "Observations that the fit has taken in.", live.observations);
  counter("impossible_observations_total",
          "Observations of probability 0 under the parameters of their time.", live.impossible);
  counter("outliers_total", "Observations that were treated as missing for being improbable.",
          live.outliers);
  counter("surprising_observations_total",
          "Observations whose -log p was 6 standard deviations above its recent mean.",
          live.surprising);
  counter("parameter_updates_total", "M-steps.", live.m_steps);
  counter("revived_components_total", "Components that were given a new column.", live.revivals);
  counter("checkpoints_total", "Checkpoints written.", live.checkpoints);
  gauge("checkpoint_observations", "Observations that the last checkpoint has.",
        static_cast<double>(live.checkpoint_rows));
  gauge("log_predictive_nats", "Recent mean of log p(y_t | past) over some 256 observations.",
        live.recent_log_predictive);
  gauge("channels", "Channels of the stream.", static_cast<double>(live.channels));
  gauge("components", "Components of the model.", static_cast<double>(live.components));
  gauge("start_time_seconds", "When the fit began, since 1970.", live.start_time);
  gauge("last_row_time_seconds", "When a row was last read, since 1970.", live.last_row_time);
  gauge("started", "1 if the search for a start is over.", live.has_started ? 1 : 0);
  gauge("finished", "1 if the stream has ended.", live.is_finished ? 1 : 0);
  if (live.effective_part) {
    counter("resamplings_total", "Steps that began with a resampling of the particles.",
            live.resamplings);
    gauge("effective_sample_ratio", "Effective number of particles over their number.",
          *live.effective_part);
  }
  return text;
}

}  // namespace headwater
