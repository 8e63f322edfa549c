#pragma once

#include <memory>

#include "headwater/clone_pointer.hpp"
#include "headwater/emission/levels.hpp"
#include "headwater/engines/engine.hpp"

namespace headwater {

// Any engine, under a law whose channels drift: their levels are filtered beside it. Before a step
// the observation is given the expected levels, as exposures, and their uncertainty, as
// dispersions: the engine sees a law without levels. After the step the levels are updated with
// the filtered activations (mean field). So levels are carried once, and not for each particle or
// state.
class DriftingEngine final : public Engine {
 public:
  DriftingEngine(std::unique_ptr<Engine> engine, const AnyLaw& law);
  std::unique_ptr<Engine> clone() const override { return std::make_unique<DriftingEngine>(*this); }

  void set_prior(const AnyPrior& prior) override { engine_->set_prior(prior); }
  void set_basis(const Matrix& basis) override { engine_->set_basis(basis); }
  void set_law(const AnyLaw& law) override;
  void set_season(const Season& season) override { engine_->set_season(season); }
  const Emission& emission() const override { return engine_->emission(); }
  std::int64_t position() const override { return engine_->position(); }

  FilterStep step(const Observation& y, double step_size) override;
  void pass_over() override { engine_->pass_over(); }
  void begin_after(std::int64_t observations) override { engine_->begin_after(observations); }
  void finish() override { engine_->finish(); }
  void stop_smoothing() override { engine_->stop_smoothing(); }

  bool has_new_statistics() const override { return engine_->has_new_statistics(); }
  const Statistics& statistics() const override;
  Statistics* mutable_statistics() override { return engine_->mutable_statistics(); }

  void exchange(StateArchive& archive) override;

  Vector predicted_activation() const override { return engine_->predicted_activation(); }
  Vector filtered_activation() const override { return engine_->filtered_activation(); }
  void sample_predicted(Generator& generator, Matrix& out) const override {
    engine_->sample_predicted(generator, out);
  }
  void write_prediction(PredictedActivations& out) const override {
    engine_->write_prediction(out);
  }
  const ExpectedLevels& expected_levels() const override { return expected_; }

  // The last observation as the engine was given it.
  const Observation& levelled() const { return levelled_; }

 private:
  ClonePointer<Engine> engine_;
  DriftParameters parameters_;
  LevelFilter levels_;
  DriftScores scores_;
  ExpectedLevels expected_;
  Observation levelled_;
  Vector intensities_;
  mutable Statistics statistics_{0, 0, 0};  // the engine's, with the scores
};

// The engine, in a DriftingEngine if the law drifts.
std::unique_ptr<Engine> with_levels(std::unique_ptr<Engine> engine, const AnyLaw& law);

// The observations with the levels that a filter finds.
Record with_found_levels(std::unique_ptr<Engine> engine, const AnyLaw& law,
                         const RecordView& observations);

}  // namespace headwater
