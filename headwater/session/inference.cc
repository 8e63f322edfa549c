#include "headwater/session/inference.hpp"

#include "headwater/engines/beam_engine.hpp"
#include "headwater/engines/exact_batch.hpp"
#include "headwater/engines/fast_engine.hpp"
#include "headwater/engines/forecast.hpp"
#include "headwater/engines/particle_batch.hpp"

namespace headwater {

ModelFilter::ModelFilter(const Estimate& estimate, bool background, const EngineConfig& engine,
                         std::uint64_t seed)
    : basis_(estimate.basis),
      num_components_(basis_.cols() - (background ? 1 : 0)),
      engine_(make_filter(engine, estimate.prior, basis_, seed)) {}

ModelFilter::ModelFilter(const ModelFilter& other)
    : basis_(other.basis_),
      num_components_(other.num_components_),
      engine_(other.engine_->clone()) {}

FilterStep ModelFilter::step(Observation y) { return engine_->step(y, 0); }

Vector ModelFilter::predicted_observation() const {
  return basis_ * engine_->predicted_activation();
}

Vector ModelFilter::filtered_activation() const {
  return engine_->filtered_activation().head(num_components_);
}

Matrix ModelFilter::forecast(Index horizon) const {
  return basis_ * forecast_activations(*engine_, basis_.rows(), horizon);
}

Matrix smoothed_activations(const Estimate& estimate, bool background, const Record& observations,
                            const EngineConfig& engine, std::uint64_t seed) {
  const Index components = estimate.basis.cols() - (background ? 1 : 0);
  const EngineKind kind = chosen_engine(engine.kind, estimate.prior, estimate.basis.rows()).kind;
  if (kind == EngineKind::kExact) {
    ExactBatch batch(estimate.prior.finite_chain(), estimate.basis, observations);
    return batch.smoothed_activations().leftCols(components);
  }
  if (kind == EngineKind::kBeam) {
    BeamFilter filter(estimate.prior.finite_chain(), estimate.basis, beam_options(engine, seed));
    return beam_smoothed_activations(filter, observations).leftCols(components);
  }
  if (kind == EngineKind::kFast) {
    FastFilter filter(estimate.prior, estimate.basis, {.seed = seed});
    return fast_smoothed_activations(filter, observations).leftCols(components);
  }
  ParticleFilter filter(estimate.prior, estimate.basis,
                        filter_options(engine, estimate.prior, estimate.basis.rows(), seed),
                        std::make_shared<ThreadPool>(engine.num_threads));
  return particle_smoothed_activations(filter, observations).leftCols(components);
}

}  // namespace headwater
