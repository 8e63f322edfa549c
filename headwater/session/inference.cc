#include "headwater/session/inference.hpp"

#include "headwater/engines/exact_batch.hpp"
#include "headwater/engines/exact_engine.hpp"

namespace headwater {

ModelFilter::ModelFilter(const Model& model)
    : basis_(model.reported.basis), num_components_(model.num_components()) {
  ExactEngineOptions options;
  options.smoother = ExactEngineOptions::Smoother::kNone;
  engine_ = std::make_unique<ExactEngine>(model.reported.prior, basis_, options);
}

FilterStep ModelFilter::step(Observation y) { return engine_->step(y, 0); }

Vector ModelFilter::predicted_observation() const {
  return basis_ * engine_->predicted_activation();
}

Vector ModelFilter::filtered_activation() const {
  return engine_->filtered_activation().head(num_components_);
}

Matrix smoothed_activations(const Model& model, const Eigen::Ref<const Matrix>& observations) {
  check_exact_reach(model.reported.prior);
  ExactBatch batch(model.reported.prior.finite_chain(), model.reported.basis, observations);
  return batch.smoothed_activations().leftCols(model.num_components());
}

}  // namespace headwater
