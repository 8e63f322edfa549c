#include "headwater/engines/drifting_engine.hpp"

namespace headwater {

DriftingEngine::DriftingEngine(std::unique_ptr<Engine> engine, const AnyLaw& law)
    : engine_(std::move(engine)),
      parameters_(drift_parameters(law)),
      levels_(engine_->emission().num_channels(), tells_of_levels(law)),
      scores_(engine_->emission().num_channels(), tells_of_levels(law)) {}

void DriftingEngine::set_law(const AnyLaw& law) {
  parameters_ = drift_parameters(law);
  engine_->set_law(law);
}

FilterStep DriftingEngine::step(const Observation& y, double step_size) {
  if (y.begins_sequence()) {
    levels_.restart();
    scores_.restart();
  }
  levels_.predict(parameters_.dispersions, parameters_.persistence);
  expected_.means = levels_.means();
  expected_.dispersions.resize(y.num_channels());
  for (Index m = 0; m < y.num_channels(); ++m) expected_.dispersions[m] = levels_.dispersion(m);
  levelled_ = y;
  levelled_.set_levels(expected_);
  const FilterStep step = engine_->step(levelled_, step_size);
  const bool is_learned = step_size > 0;  // or else the engine only filters
  if (is_learned) scores_.predict(parameters_);
  if (step.impossible) return step;
  intensities_.noalias() = engine_->emission_now().basis() * engine_->filtered_activation();
  if (is_learned) scores_.update(y, intensities_, parameters_, step_size);
  for_each_seen(y, [&](Index m, double count, double exposure) {
    levels_.update(m, count, exposure, intensities_[m]);
  });
  return step;
}

const Statistics& DriftingEngine::statistics() const {
  statistics_ = engine_->statistics();
  // A law may have others after those of its levels.
  if (statistics_.s4.size() > 0)
    statistics_.s4.head(scores_.averages().size()) = scores_.averages();
  return statistics_;
}

void DriftingEngine::exchange(StateArchive& archive) {
  engine_->exchange(archive);
  archive(levels_, scores_);
  if (archive.is_reading()) parameters_ = drift_parameters(engine_->emission().law());
}

std::unique_ptr<Engine> with_levels(std::unique_ptr<Engine> engine, const AnyLaw& law) {
  if (!drifts(law)) return engine;
  return std::make_unique<DriftingEngine>(std::move(engine), law);
}

Record with_found_levels(std::unique_ptr<Engine> engine, const AnyLaw& law,
                         const RecordView& observations) {
  DriftingEngine filter(std::move(engine), law);
  Record levelled;
  for (Index t = 0; t < observations.size(); ++t) {
    filter.step(observations[t], 0);
    levelled.add(filter.levelled());
  }
  return levelled;
}

}  // namespace headwater
