#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headwater/parallel/ranks.hpp"
#include "headwater/source.hpp"

// Rows of which each rank reads the columns of its own channels alone. The ranks hand each other
// what they have found, and all of them have the whole row.
class SharedSource final : public headwater::ObservationSource {
 public:
  // rows: one that keeps the columns of this rank (see ObservationSource::keep_columns).
  SharedSource(std::unique_ptr<headwater::ObservationSource> rows,
               const headwater::SharedChannels& channels);

  headwater::Index num_channels() const override { return rows_->num_channels(); }
  std::vector<std::string> channel_names() const override { return rows_->channel_names(); }
  bool next(std::vector<double>& values) override;
  bool next(headwater::Observation& y) override;
  bool begins_sequence() const override { return rows_->begins_sequence(); }
  bool can_go_on_after_error() const override { return rows_->can_go_on_after_error(); }
  std::optional<double> fraction_read() const override { return rows_->fraction_read(); }
  std::string position() const override { return rows_->position(); }

 private:
  // What a rank has made of a row.
  enum class Outcome { kRow, kEnd, kBadRow, kError };

  void find_own();
  void tell(Outcome outcome);
  bool has_any(Outcome outcome) const;
  [[noreturn]] void throw_common(Outcome outcome, const std::string& own_message) const;
  void hand_round();

  std::unique_ptr<headwater::ObservationSource> rows_;
  headwater::Ranks& ranks_;
  headwater::Index first_own_;
  std::vector<double> values_;  // of the own columns
  std::vector<double> own_;     // channels, each with what it has, unless that is 0
  std::vector<double> found_;   // those of all ranks
  std::vector<double> told_;    // of each rank the outcome, and the length of what it has
  std::vector<headwater::Index> counts_;
};
