#pragma once

#include <memory>
#include <utility>

#include "headwater/clone_pointer.hpp"
#include "headwater/engines/engine.hpp"

namespace headwater {

// The engine of a fit by rounds. Sequences are filtered and smoothed elsewhere, each by an engine
// of its own. This one keeps their averaged statistics, and the parameters for the next round. As
// a filter it stands where a sequence is about to begin.
class RoundEngine final : public Engine {
 public:
  // filter: without a smoother. statistics: of the right size, all zero.
  RoundEngine(std::unique_ptr<Engine> filter, Statistics statistics)
      : filter_(std::move(filter)), statistics_(std::move(statistics)) {}
  std::unique_ptr<Engine> clone() const override { return std::make_unique<RoundEngine>(*this); }

  void set_prior(const AnyPrior& prior) override { filter_->set_prior(prior); }
  void set_basis(const Matrix& basis) override { filter_->set_basis(basis); }
  void set_law(const AnyLaw& law) override { filter_->set_law(law); }
  void set_season(const Season& season) override { filter_->set_season(season); }
  const Emission& emission() const override { return filter_->emission(); }
  std::int64_t position() const override { return filter_->position(); }
  const Emission& emission_now() const override { return filter_->emission_now(); }

  // Moves the filter alone.
  FilterStep step(const Observation& y, double) override { return filter_->step(y, 0); }
  void pass_over() override { filter_->pass_over(); }
  void begin_after(std::int64_t observations) override { filter_->begin_after(observations); }
  void finish() override {}
  void stop_smoothing() override {}

  bool has_new_statistics() const override { return false; }
  const Statistics& statistics() const override { return statistics_; }
  Statistics* mutable_statistics() override { return &statistics_; }

  void exchange(StateArchive& archive) override {
    filter_->exchange(archive);
    archive(statistics_);
  }

  Vector predicted_activation() const override { return filter_->predicted_activation(); }
  Vector filtered_activation() const override { return filter_->filtered_activation(); }
  const ExpectedLevels& expected_levels() const override { return filter_->expected_levels(); }
  void sample_predicted(Generator& generator, Matrix& out) const override {
    filter_->sample_predicted(generator, out);
  }
  void write_prediction(PredictedActivations& out) const override {
    filter_->write_prediction(out);
  }

 private:
  ClonePointer<Engine> filter_;
  Statistics statistics_;
};

}  // namespace headwater
