#pragma once

#include <memory>
#include <optional>

#include "headwater/clone_pointer.hpp"
#include "headwater/emission/channel_gains.hpp"
#include "headwater/engines/engine.hpp"

namespace headwater {

// Any engine, in a stream whose channels have a season of their own. Before a step, the exposures
// of the observation are multiplied by the gains of the channels; after it, the gains learn from
// the counts, given the activations that were predicted and those that were filtered. The engine
// inside sees exposures. emission_now() is with the gains, for forecasts and for surprises.
class GainsEngine final : public Engine {
 public:
  enum class Gains { kLearned, kHeld };
  GainsEngine(std::unique_ptr<Engine> engine, ChannelGains gains, Gains kind);
  std::unique_ptr<Engine> clone() const override { return std::make_unique<GainsEngine>(*this); }

  void set_prior(const AnyPrior& prior) override { engine_->set_prior(prior); }
  void set_basis(const Matrix& basis) override;
  void set_law(const AnyLaw& law) override;
  void set_season(const Season& season) override;
  const Emission& emission() const override { return engine_->emission(); }
  const Emission& emission_now() const override;
  std::int64_t position() const override { return engine_->position(); }

  FilterStep step(const Observation& y, double step_size) override;
  void pass_over() override { engine_->pass_over(); }
  void begin_after(std::int64_t observations) override { engine_->begin_after(observations); }
  void finish() override { engine_->finish(); }
  void stop_smoothing() override { engine_->stop_smoothing(); }

  bool has_new_statistics() const override { return engine_->has_new_statistics(); }
  const Statistics& statistics() const override { return engine_->statistics(); }
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
  const ExpectedLevels& expected_levels() const override { return engine_->expected_levels(); }
  std::vector<Matrix> channel_profiles() const override { return gains_.tables(); }

 private:
  void learn(const Observation& y);
  // The observation with the Poisson counts that are expected behind its counts: see Hurdle.
  const Observation& behind_hurdles(const Observation& y);

  ClonePointer<Engine> engine_;
  ChannelGains gains_;
  Gains kind_;
  bool any_ = false;  // of the last step's gains is not 1
  Vector gains_now_;
  Observation exposed_;
  Observation levelled_;
  Observation behind_;
  std::vector<double> behind_counts_;
  std::vector<double> behind_exposures_;
  Vector predicted_;
  Vector filtered_;
  Vector dispersions_;  // of the law, where no level drifts
  mutable std::optional<Emission> now_;
};

// The engine, in a GainsEngine if channels have a season of their own: one that is learned, where
// there is room for that, or the one that the season has.
std::unique_ptr<Engine> with_channel_gains(std::unique_ptr<Engine> engine, const Season& season,
                                           bool learns);

// The gains that are found where the engine filters these observations: see ChannelGains::tables.
std::vector<Matrix> found_channel_profiles(std::unique_ptr<Engine> engine, const Season& season,
                                           const RecordView& observations);

// The observations with the gains that their positions have as exposures, in the room; the
// observations themselves if there are no gains.
RecordView with_channel_profiles(const RecordView& observations,
                                 const std::vector<Matrix>& profiles, Record& room);

}  // namespace headwater
