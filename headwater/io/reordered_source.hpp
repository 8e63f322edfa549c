#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headwater/source.hpp"

namespace headwater {

// Rows of another source with their columns in another order: channel m is column order[m].
class ReorderedSource final : public ObservationSource {
 public:
  ReorderedSource(std::unique_ptr<ObservationSource> rows, std::vector<Index> order);

  Index num_channels() const override { return rows_->num_channels(); }
  std::vector<std::string> channel_names() const override;
  bool next(std::vector<double>& values) override;
  bool next(Observation& y) override;
  bool begins_sequence() const override { return rows_->begins_sequence(); }
  bool can_go_on_after_error() const override { return rows_->can_go_on_after_error(); }
  std::optional<double> fraction_read() const override { return rows_->fraction_read(); }
  std::string position() const override { return rows_->position(); }
  std::string time_text() const override { return rows_->time_text(); }
  std::string unread(bool with_last_row) const override { return rows_->unread(with_last_row); }
  void remember(SourceMemory& memory, bool with_last_row) const override {
    rows_->remember(memory, with_last_row);
  }
  std::int64_t num_replaced() const override { return rows_->num_replaced(); }

 private:
  void reorder(std::vector<double>& values) const;  // from given_

  std::unique_ptr<ObservationSource> rows_;
  std::vector<Index> order_;
  std::vector<double> given_;
  std::vector<double> reordered_;
};

}  // namespace headwater
