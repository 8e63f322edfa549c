#pragma once

#include <cassert>
#include <memory>
#include <utility>

#include "headwater/clone_pointer.hpp"
#include "headwater/engines/engine.hpp"
#include "headwater/smoothers/smoother.hpp"

namespace headwater {

// A filter and the smoother that follows it: what all engines have in common.
template <class Filter>
class FilterEngine : public Engine {
 public:
  void set_basis(const Matrix& basis) override { filter_.set_basis(basis); }
  void set_law(const AnyLaw& law) override { filter_.set_law(law); }
  void set_season(const Season& season) override { filter_.set_season(season); }
  const Emission& emission() const override { return filter_.emission(); }
  std::int64_t position() const override { return position_; }

  FilterStep step(const Observation& y, double step_size) override {
    position_ = y.position();
    if (y.begins_sequence() && filter_.has_started()) begin_sequence();
    const FilterStep step = filter_.step(y);
    ++steps_since_new_;
    const bool has_advanced =
        smoother_ && smoother_->advance(filter_, step.impossible ? nothing_seen_ : y, step_size);
    tell_of_new(has_advanced || (has_untold_ && steps_since_new_ >= kFewestBetween));
    return step;
  }
  void pass_over() override { filter_.pass_over(); }
  void begin_after(std::int64_t observations) override {
    for (std::int64_t t = 0; t < observations; ++t) filter_.pass_over();
    filter_.restart();
  }
  void finish() override { tell_of_new((smoother_ && smoother_->finish(filter_)) || has_untold_); }

  void stop_smoothing() override { smoother_ = {}; }

  bool has_new_statistics() const override { return has_new_statistics_; }
  const Statistics& statistics() const override {
    assert(smoother_);
    return smoother_->statistics();
  }

  Statistics* mutable_statistics() override {
    return smoother_ ? smoother_->mutable_statistics() : nullptr;
  }

  void exchange(StateArchive& archive) override {
    archive(filter_, has_new_statistics_, has_untold_, steps_since_new_, position_);
    archive.expect(position_ >= 0, "an invalid position");
    if (smoother_) smoother_->exchange(archive, filter_);
  }

  const Filter& filter() const { return filter_; }

 protected:
  // Without a smoother it is a filter only.
  explicit FilterEngine(Filter filter) : filter_(std::move(filter)) {
    nothing_seen_.assign_missing(filter_.emission().num_channels());
  }

  void follow_with(std::unique_ptr<Smoother<Filter>> smoother) { smoother_ = std::move(smoother); }

  Filter filter_;

 private:
  // Where sequences are short, the statistics change at the end of each one, and the learner is not
  // told more often than at the end of so many observations: an M-step may cost more than those.
  static constexpr std::int64_t kFewestBetween = 16;

  // A sequence has ended: what the smoother holds back of it enters, as at the end of a stream.
  void begin_sequence() {
    if (smoother_) {
      has_untold_ = smoother_->finish(filter_) || has_untold_;
      smoother_->restart();
    }
    filter_.restart();
  }
  void tell_of_new(bool is_new) {
    has_new_statistics_ = is_new;
    if (!is_new) return;
    has_untold_ = false;
    steps_since_new_ = 0;
  }

  ClonePointer<Smoother<Filter>> smoother_;
  Observation nothing_seen_;
  std::int64_t position_ = 0;
  bool has_new_statistics_ = false;
  bool has_untold_ = false;  // the statistics have changed, and the learner was not told
  std::int64_t steps_since_new_ = 0;
};

}  // namespace headwater
