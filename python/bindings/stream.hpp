#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "arrays.hpp"
#include "forecast.hpp"
#include "headwater/inference.hpp"
#include "headwater/learning/automatic_start.hpp"
#include "headwater/learning/online_em.hpp"
#include "headwater/observations/stream_digest.hpp"
#include "headwater/session.hpp"
#include "headwater/session/engine_table.hpp"
#include "headwater/session/restarts.hpp"
#include "signals.hpp"

namespace headwater::python {

// The engine whose filter has made this report: the session may have another one by now.
inline EngineKind engine_of(const FilterStep& step) {
  if (step.particles() != nullptr) return EngineKind::kParticle;
  if (step.beam() != nullptr) return EngineKind::kBeam;
  if (std::holds_alternative<FastReport>(step.of_filter)) return EngineKind::kFast;
  return EngineKind::kExact;
}

// A Session that Python threads can share: one thread at a time uses it, without the GIL.
class Stream {
 public:
  Stream(const Config& config, AnyPrior prior) : session_(config, std::move(prior)) { listen(); }
  explicit Stream(Session session) : session_(std::move(session)) { listen(); }
  Stream(const Stream& other)
      : session_(other.session_),
        seen_(other.seen_),
        report_(other.report_),
        last_(other.last_),
        prior_(other.prior_) {
    listen();
  }

  void update(const RowIn& y, const std::optional<RowIn>& exposure, bool new_sequence) {
    locked([&] {
      y_.assign(
          std::span(y.data(), y.shape(0)),
          exposure ? std::span(exposure->data(), exposure->shape(0)) : std::span<const double>(),
          session_.observations() + 1);
      y_.set_begins_sequence(new_sequence);
      take_in(y_);
    });
  }
  void update_rows(const RowsIn& rows, const std::optional<RowsIn>& exposures,
                   const std::optional<IndicesIn>& sequences) {
    locked([&] {
      SequenceBegins begins(sequences);
      for (std::size_t t = 0; t < rows.shape(0); ++t) {
        assign_row(rows, exposures, t, session_.observations() + 1, y_);
        y_.set_begins_sequence(begins.at(t));
        take_in(y_);
      }
    });
  }
  // The rows of a sparse matrix, compressed by row, column indices ascending in each; never dense.
  void update_sparse(const RowIn& values, const IndicesIn& columns, const IndicesIn& begins,
                     Index num_channels, const std::optional<IndicesIn>& sequences) {
    locked([&] {
      SequenceBegins begins_sequence(sequences);
      for (std::size_t t = 0; t + 1 < begins.shape(0); ++t) {
        assign_sparse_row(values, columns, begins, t, num_channels, session_.observations() + 1,
                          y_);
        y_.set_begins_sequence(begins_sequence.at(t));
        take_in(y_);
      }
    });
  }
  void finish() {
    locked([&] { session_.finish(); });
  }

  std::unique_ptr<Stream> copy() {
    return locked([&] { return std::make_unique<Stream>(*this); });
  }
  // Of fits by rounds: see Session.
  bool wants_start() {
    return locked([&] { return session_.wants_start(); });
  }
  void begin_rounds() {
    locked([&] { session_.begin_rounds(); });
  }
  std::pair<std::int64_t, std::string> round() {
    return locked([&] {
      const SequenceRound round = session_.round();
      return std::pair(round.first(), round.bytes());
    });
  }
  void take_in_round(const RoundStatistics& round) {
    locked([&] { session_.take_in(round); });
  }
  // Without the lock: it depends on what the session was made with, which does not change.
  RoundStatistics statistics(const std::string& round, const RecordView& sequence,
                             std::int64_t index) const {
    return session_.statistics(session_.round_of(round), sequence, index);
  }

  // The state from which the session continues bit for bit.
  std::string state() {
    return locked([&] {
      StateArchive archive;
      archive(session_, seen_);
      return archive.bytes();
    });
  }
  void restore(const std::string& state) {
    locked([&] {
      StateArchive archive(state);
      archive(session_, seen_);
      archive.expect_end();
    });
  }
  // For checkpoints, which contain a whole fit and not a single stream.
  template <class Work>
  auto with_session(const Work& work) {
    return locked([&] { return work(session_, seen_); });
  }

  // Of the last observation: -log p, the three probabilities of SurpriseMeter, and the channels of
  // the smallest p: index, expected, seen and p.
  std::optional<nb::tuple> surprise() {
    if (!locked([&] { return report_.has_value(); })) return std::nullopt;
    const auto [log_predictive, row] = locked([&] {
      SurpriseMeter meter;
      // Nothing is unusual where nothing is known.
      return std::pair(report_->filter.log_predictive,
                       report_->is_blind ? RowSurprise() : meter(session_.prediction(), last_));
    });
    nb::list channels;
    for (const CellSurprise& cell : row.channels) {
      channels.append(nb::make_tuple(cell.channel, cell.expected, cell.seen, cell.p));
    }
    return nb::make_tuple(-log_predictive, row.p_row, row.p_total, row.p_channels, channels);
  }

  void set_names(const std::vector<std::string>& names) {
    locked([&] { session_.set_names(names); });
  }
  std::vector<std::string> names() {
    return locked([&] { return session_.names(); });
  }

  Model model() {
    return locked([&] { return session_.model(); });
  }
  std::optional<StandardErrors> standard_errors() {
    return locked([&] { return session_.standard_errors(); });
  }
  bool has_started() {
    return locked([&] { return session_.learner() != nullptr; });
  }
  bool is_finished() {
    return locked([&] { return session_.is_finished(); });
  }
  std::int64_t observations() {
    return locked([&] { return session_.observations(); });
  }
  double log_likelihood() {
    return locked([&] { return session_.log_likelihood(); });
  }
  double merit() {
    return locked([&] { return headwater::merit(session_); });
  }
  std::string start() {
    return locked([&] { return session_.start_report().chosen; });
  }
  NumpyVector activation() {
    return vector_to_numpy(locked([&] { return session_.filtered_activation(); }));
  }
  std::pair<NumpyTable, NumpyTable> forecast(Index horizon, const std::vector<double>& quantiles,
                                             bool total, Index draws) {
    return to_numpy(locked([&] {
      const ForecastOptions options{quantiles, total, draws, session_.config().seed};
      return tables_of(session_.forecast(options), horizon, static_cast<Index>(quantiles.size()));
    }));
  }
  // The same fields as the command's --log.
  std::optional<nb::dict> report() {
    const std::optional<StepReport> last = locked([&] { return report_; });
    if (!last) return std::nullopt;
    nb::dict fields;
    fields["t"] = last->t;
    fields["log_predictive"] = last->filter.log_predictive;
    engine_info(engine_of(last->filter))
        .report(last->filter, [&](const char* name, const FieldValue& field) {
          std::visit([&](const auto& value) { fields[name] = value; }, field);
        });
    fields["step"] = last->step_size;
    fields["updated"] = last->updated;
    fields["in_start"] = last->in_start;
    fields["provisional"] = last->provisional;
    fields["outlier"] = last->is_outlier;
    fields["impossible"] = last->filter.impossible;
    if (last->revived >= 0) fields["revived"] = last->revived + 1;
    if (!prior_.empty()) fields["prior"] = prior_;
    return fields;
  }

 private:
  // An observation that the session has counted is in it, even if a callback threw then.
  void take_in(const Observation& y) {
    const std::int64_t before = session_.observations();
    try {
      session_.update(y);
    } catch (...) {
      if (session_.observations() > before) seen_.add(y);
      throw;
    }
    seen_.add(y);
  }

  void listen() {
    session_.keep_predictions(true);
    session_.on_step([this](const StepReport& report) {
      report_ = report;
      last_ = *report.observation;
      if (session_.config().prior.name == PriorConfig::kAuto) {
        prior_ = session_.learner()->working().prior.name();
      }
      watch_.look();
    });
    session_.on_search([](std::int64_t, std::int64_t) { heed_signals(); });
    session_.on_iteration([](std::int64_t, double, const Estimate&) { heed_signals(); });
  }

  // Releases the GIL before locking: the thread that holds the lock may need the GIL for a prior
  // written in Python.
  template <class Work>
  std::invoke_result_t<Work> locked(const Work& work) {
    const nb::gil_scoped_release release;
    const std::lock_guard lock(mutex_);
    return work();
  }

  std::recursive_mutex mutex_;  // recursive: a signal handler may use the stream that it interrupts
  Session session_;
  Observation y_;  // that is given to it
  StreamDigest seen_;
  std::optional<StepReport> report_;
  Observation last_;   // that was taken in
  std::string prior_;  // that predicted it, where it is to be chosen
  SignalWatch watch_;
};

}  // namespace headwater::python
