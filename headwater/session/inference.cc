#include "headwater/inference.hpp"

#include "headwater/engines/forecast.hpp"
#include "headwater/session/engine_table.hpp"

namespace headwater {

namespace {

std::shared_ptr<const ThreadPool> pool_of(const EngineConfig& engine) {
  return std::make_shared<ThreadPool>(engine.num_threads);
}

Index num_components_of(const Estimate& estimate, bool background) {
  return estimate.basis.cols() - (background ? 1 : 0);
}

}  // namespace

ModelFilter::ModelFilter(const Estimate& estimate, bool background, const EngineConfig& engine,
                         std::uint64_t seed)
    : num_components_(num_components_of(estimate, background)),
      engine_(make_engine(
          {filter_config(engine, estimate.prior), estimate, seed, pool_of(engine), false})) {}

ModelFilter::ModelFilter(const ModelFilter& other) = default;
ModelFilter::ModelFilter(ModelFilter&& other) noexcept = default;
ModelFilter& ModelFilter::operator=(const ModelFilter& other) = default;
ModelFilter& ModelFilter::operator=(ModelFilter&& other) noexcept = default;
ModelFilter::~ModelFilter() = default;

Index ModelFilter::num_channels() const { return engine_->emission().num_channels(); }

FilterStep ModelFilter::step(const Observation& y) {
  if (engine_->emission().season().empty()) return engine_->step(y, 0);
  placed_ = y;
  position_ = position_ < 0 || y.begins_sequence() ? phase_ : position_ + 1;
  placed_.set_position(position_);
  return engine_->step(placed_, 0);
}

void ModelFilter::pass_over() { engine_->pass_over(); }

Vector ModelFilter::predicted_observation() const {
  return headwater::predicted_observation(*engine_);
}

Vector ModelFilter::filtered_activation() const {
  return engine_->filtered_activation().head(num_components_);
}

Matrix ModelFilter::forecast(Index horizon) const { return forecast_means(*engine_, horizon); }

Forecast ModelFilter::forecast(const ForecastOptions& options) const { return {*engine_, options}; }

Matrix smoothed_activations(const Estimate& estimate, bool background,
                            const RecordView& observations, const EngineConfig& engine,
                            std::uint64_t seed, std::int64_t phase,
                            const std::function<bool(Index)>& is_wanted) {
  const Config config = filter_config(engine, estimate.prior);
  Record placed;
  std::int64_t position = phase;
  for (Index t = 0; t < observations.size() && !estimate.season.empty(); ++t) {
    Observation y = observations[t];
    position = t == 0 || y.begins_sequence() ? phase : position + 1;
    y.set_position(position);
    placed.add(y);
  }
  return smooth_record({config, estimate, seed, pool_of(engine), false},
                       placed.empty() ? observations : RecordView(placed), is_wanted)
      .leftCols(num_components_of(estimate, background));
}

}  // namespace headwater
