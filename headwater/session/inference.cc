#include "headwater/session/inference.hpp"

#include "headwater/engines/exact_batch.hpp"
#include "headwater/engines/exact_engine.hpp"

namespace headwater {

ModelFilter::ModelFilter(const Estimate& estimate, bool background)
    : basis_(estimate.basis), num_components_(basis_.cols() - (background ? 1 : 0)) {
  ExactEngineOptions options;
  options.smoother = ExactEngineOptions::Smoother::kNone;
  engine_ = std::make_unique<ExactEngine>(estimate.prior, basis_, options);
}

FilterStep ModelFilter::step(Observation y) { return engine_->step(y, 0); }

Vector ModelFilter::predicted_observation() const {
  return basis_ * engine_->predicted_activation();
}

Vector ModelFilter::filtered_activation() const {
  return engine_->filtered_activation().head(num_components_);
}

Matrix smoothed_activations(const Estimate& estimate, bool background,
                            const Eigen::Ref<const Matrix>& observations) {
  check_exact_reach(estimate.prior);
  ExactBatch batch(estimate.prior.finite_chain(), estimate.basis, observations);
  return batch.smoothed_activations().leftCols(estimate.basis.cols() - (background ? 1 : 0));
}

}  // namespace headwater
