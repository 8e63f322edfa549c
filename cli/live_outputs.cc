#include "live_outputs.hpp"

#include <algorithm>

#include "headwater/learning/online_em.hpp"
#include "model_and_data.hpp"
#include "step_log.hpp"

using namespace headwater;

namespace {

LineFile open_lines(const std::string& name, const Checkpoint& resumed) {
  for (const GrowingFile& file : resumed.files) {
    if (file.name == name) return LineFile(file);
  }
  return LineFile({name, 0, ""});
}

}  // namespace

LiveOutputs::LiveOutputs(const FitOptions& options, const DataStream& data,
                         const Checkpoint& resumed)
    : data_(data),
      calibration_(resumed.calibration),
      with_surprise_(options.surprise),
      sent_before_(resumed.sent),
      sent_(resumed.sent) {
  if (!options.log.empty()) log_.emplace(open_lines(options.log, resumed));
  if (!options.activations.empty()) x_.emplace(open_lines(options.activations, resumed));
  const bool is_new = resumed.seen.observations() == 0;
  if (x_ && is_new && data.has_times()) {
    x_->add(activations_header(options.settings.num_components, options.surprise));
  }
}

bool LiveOutputs::is_due(const std::optional<LineFile>& file, std::int64_t t) const {
  return file && !(file->is_stream() && t <= sent_before_);
}

// Both lines are there before one of them is written, so that an error in one file does not cost
// the other its line.
void LiveOutputs::write(const StepReport& report, const Session& session) {
  if (!log_ && !x_) return;
  const OnlineEm& learner = *session.learner();
  std::optional<Surprise> surprise;
  if (with_surprise_) {
    if (labels_.empty()) labels_ = channel_labels(session.names(), data_.num_channels());
    // Nothing is unusual where nothing is known.
    static const RowSurprise kNone;
    const RowSurprise& by_model =
        report.is_blind ? kNone : meter_(session.prediction(), *report.observation);
    surprise.emplace(
        Surprise{-report.filter.log_predictive, calibration_(by_model, report), by_model, labels_});
  }
  const Surprise* added = surprise ? &*surprise : nullptr;
  const std::string time = data_.time_text(*report.observation);
  if (is_due(log_, report.t)) {
    const bool with_prior = session.config().prior.name == PriorConfig::kAuto;
    log_->add(log_line(report, session.engine().kind, learner.last(), added, time, with_prior));
  }
  if (is_due(x_, report.t)) {
    x_->add(activations_line(session.filtered_activation(), added, time));
  }
  if ((log_ && log_->is_stream()) || (x_ && x_->is_stream()))
    sent_ = std::max(sent_.load(), report.t);
  if (log_) log_->flush();
  if (x_) x_->flush();
}

void LiveOutputs::write_bad_row(const std::string& message) {
  if (!log_) return;
  log_->add(bad_row_line(message));
  log_->flush();
}

std::vector<GrowingFile> LiveOutputs::files() const {
  std::vector<GrowingFile> files;
  if (log_) files.push_back(log_->now());
  if (x_) files.push_back(x_->now());
  return files;
}
