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
    const FilterStep step = filter_.step(y);
    has_new_statistics_ =
        smoother_ && smoother_->advance(filter_, step.impossible ? nothing_seen_ : y, step_size);
    return step;
  }
  void finish() override { has_new_statistics_ = smoother_ && smoother_->finish(filter_); }

  bool has_new_statistics() const override { return has_new_statistics_; }
  const Statistics& statistics() const override {
    assert(smoother_);
    return smoother_->statistics();
  }

  Statistics* mutable_statistics() override {
    return smoother_ ? smoother_->mutable_statistics() : nullptr;
  }

  void exchange(StateArchive& archive) override {
    archive(filter_, has_new_statistics_, position_);
    archive.expect(position_ >= 0, "a position that is none");
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
  ClonePointer<Smoother<Filter>> smoother_;
  Observation nothing_seen_;
  std::int64_t position_ = 0;
  bool has_new_statistics_ = false;
};

}  // namespace headwater
