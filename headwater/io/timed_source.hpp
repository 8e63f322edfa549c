#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headwater/io/time_stamp.hpp"
#include "headwater/source.hpp"

namespace headwater {

// Rows with times, as rows that follow each other in equal steps. The first two rows of a sequence
// say how long a step is. Where rows are missing after that, rows of missing cells take their
// place, at most `max_gap` in a row. A row that comes back in time, or between two steps, is
// refused. Each sequence has a clock of its own, which starts with its first row.
class TimedSource final : public ObservationSource {
 public:
  // The rows have times: see ObservationSource::time_text().
  TimedSource(std::unique_ptr<ObservationSource> rows, std::int64_t max_gap,
              const SourceMemory& memory = {});

  double time() const { return last_; }          // of the last observation
  bool is_filled() const { return is_filled_; }  // whether it stands for a row that is missing
  std::string text_of(double time) const { return format_.text(time); }
  // Steps after the last observation; empty if no two rows have said how long a step is.
  std::string text_after(std::int64_t steps) const;
  // Nothing for times that are plain numbers. Before the first observation, reads ahead to the
  // second one. Throws InputError if there is none.
  std::optional<double> seconds_a_row();

  Index num_channels() const override { return rows_->num_channels(); }
  std::vector<std::string> channel_names() const override { return rows_->channel_names(); }
  bool next(std::vector<double>& values) override;
  bool next(Observation& y) override;
  bool begins_sequence() const override { return begins_sequence_; }
  bool can_go_on_after_error() const override { return rows_->can_go_on_after_error(); }
  std::optional<double> fraction_read() const override { return rows_->fraction_read(); }
  std::string position() const override { return rows_->position(); }
  std::string time_text() const override { return rows_->time_text(); }
  std::string unread(bool with_last_row) const override {
    return rows_->unread(with_last_row || !waiting_.empty());
  }
  void remember(SourceMemory& memory, bool with_last_row) const override;
  std::int64_t num_replaced() const override { return rows_->num_replaced(); }

 private:
  struct Row {
    std::vector<double> values;
    double time = 0;
    bool begins_sequence = false;
  };

  bool read_row();  // into waiting_
  double time_of_row();
  // How many rows are missing before this one. Throws if it does not follow the last observation.
  std::int64_t gap_before(const Row& row);
  [[noreturn]] void refuse(const Row& row, const std::string& why) const;

  std::unique_ptr<ObservationSource> rows_;
  std::int64_t max_gap_;
  TimeFormat format_;  // of the first row
  bool knows_format_ = false;
  double step_ = 0;  // 0: not known yet
  double last_;      // NaN before the first observation
  double before_last_;
  bool is_filled_ = false;
  bool begins_sequence_ = false;
  bool has_lost_begin_ = false;  // the last row was refused, and began a sequence
  std::deque<Row> waiting_;      // read, and not returned yet
  std::int64_t gap_left_ = 0;    // missing rows to return before the first that waits
  std::vector<double> dense_;
};

}  // namespace headwater
