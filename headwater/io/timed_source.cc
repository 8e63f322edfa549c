#include "headwater/io/timed_source.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "headwater/core/duration.hpp"
#include "headwater/error.hpp"
#include "headwater/io/cell.hpp"

namespace headwater {

namespace {

constexpr double kNoTime = std::numeric_limits<double>::quiet_NaN();
// How far from its step a row may be, in steps: times that are written as decimals are rounded.
constexpr double kRoundedStep = 1e-3;

}  // namespace

TimedSource::TimedSource(std::unique_ptr<ObservationSource> rows, std::int64_t max_gap,
                         const SourceMemory& memory)
    : rows_(std::move(rows)), max_gap_(max_gap), last_(kNoTime), before_last_(kNoTime) {
  if (memory.time.empty()) return;
  const auto time = TimeFormat::parse(memory.time, format_);
  if (!time || !(memory.step >= 0)) {
    throw InputError(
        fmt::format("{}: the checkpoint has an invalid time of the row before", rows_->position()));
  }
  knows_format_ = true;
  last_ = *time;
  step_ = memory.step;
}

bool TimedSource::next(std::vector<double>& values) {
  if (waiting_.empty() && !read_row()) return false;
  if (gap_left_ == 0 && !is_filled_) gap_left_ = gap_before(waiting_.front());
  before_last_ = last_;
  if (gap_left_ > 0) {
    --gap_left_;
    is_filled_ = true;
    begins_sequence_ = false;
    last_ += step_;
    values.assign(static_cast<std::size_t>(num_channels()), kNoTime);
    return true;
  }
  Row& row = waiting_.front();
  is_filled_ = false;
  begins_sequence_ = row.begins_sequence;
  last_ = row.time;
  values.swap(row.values);
  waiting_.pop_front();
  return true;
}

bool TimedSource::next(Observation& y) {
  if (!next(dense_)) return false;
  y.assign(dense_);
  y.set_begins_sequence(begins_sequence_);
  y.set_time(last_);
  return true;
}

bool TimedSource::read_row() {
  Row row;
  if (!rows_->next(row.values)) return false;
  row.begins_sequence = std::exchange(has_lost_begin_, false) || rows_->begins_sequence();
  has_lost_begin_ = row.begins_sequence;
  row.time = time_of_row();  // throws
  has_lost_begin_ = false;
  waiting_.push_back(std::move(row));
  return true;
}

double TimedSource::time_of_row() {
  const std::string text = rows_->time_text();
  TimeFormat format;
  const auto time = TimeFormat::parse(text, format);
  const std::string wanted = !knows_format_ ? "a date and time as 2026-03-29T14:30, or a number"
                             : format_.is_calendar() ? "a date and time, as before"
                                                     : "a number, as before";
  if (!time || (knows_format_ && format.is_calendar() != format_.is_calendar())) {
    throw BadRow(fmt::format("{}: {} is not a time; expected {}", rows_->position(),
                             quote_text(text), wanted));
  }
  if (!knows_format_) format_ = format;
  knows_format_ = true;
  return *time;
}

// A row that is refused is gone: the next one may do.
void TimedSource::refuse(const Row& row, const std::string& why) const {
  throw BadRow(fmt::format("{}: {} {}", rows_->position(), text_of(row.time), why));
}

std::int64_t TimedSource::gap_before(const Row& row) {
  if (std::isnan(last_) || row.begins_sequence) return 0;
  const Row here = row;
  const auto drop = [&] { waiting_.pop_front(); };
  if (!(here.time > last_)) {
    drop();
    refuse(here, fmt::format("comes after {}; rows must be in the order of time", text_of(last_)));
  }
  if (step_ == 0) {
    step_ = here.time - last_;
    return 0;
  }
  const double steps = (here.time - last_) / step_;
  const double whole = std::round(steps);
  const std::string step = format_.is_calendar() ? duration_text(step_ / TimeFormat::kPerSecond)
                                                 : fmt::format("{:g}", step_);
  if (std::abs(steps - whole) > kRoundedStep || whole < 1) {
    drop();
    refuse(here,
           fmt::format("is {:.4g} steps after {}; expected a whole number of steps, which are "
                       "{} long, as between the first two rows",
                       steps, text_of(last_), step));
  }
  if (whole - 1 > static_cast<double>(max_gap_)) {
    throw InputError(fmt::format(
        "{}: {} comes {:.0f} steps of {} after {}; --max-gap {} allows for {} missing rows",
        rows_->position(), text_of(here.time), whole, step, text_of(last_), max_gap_, max_gap_));
  }
  return static_cast<std::int64_t>(whole) - 1;
}

std::string TimedSource::text_after(std::int64_t steps) const {
  if (step_ == 0 || std::isnan(last_)) return "";
  return text_of(last_ + static_cast<double>(steps) * step_);
}

std::optional<double> TimedSource::seconds_a_row() {
  if (step_ == 0) {
    while (waiting_.size() < 2 || waiting_.back().begins_sequence) {
      if (!read_row()) {
        throw InputError(
            fmt::format("{}: ends before two rows say how long a step is", rows_->position()));
      }
    }
    const double before = waiting_[waiting_.size() - 2].time;
    if (!(waiting_.back().time > before)) {
      refuse(waiting_.back(),
             fmt::format("comes after {}; rows must be in the order of time", text_of(before)));
    }
    step_ = waiting_.back().time - before;
  }
  if (!format_.is_calendar()) return std::nullopt;
  return step_ / TimeFormat::kPerSecond;
}

void TimedSource::remember(SourceMemory& memory, bool with_last_row) const {
  rows_->remember(memory, with_last_row || !waiting_.empty());
  const double time = with_last_row ? before_last_ : last_;
  memory.time = std::isnan(time) ? "" : text_of(time);
  memory.step = step_;
}

}  // namespace headwater
