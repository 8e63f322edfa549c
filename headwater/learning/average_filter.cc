#include "headwater/learning/average_filter.hpp"

namespace headwater {

AverageFilter::AverageFilter(const OnlineEm& learner) : engine_(learner.engine().clone()) {
  engine_->stop_smoothing();
  follow(learner);
}

void AverageFilter::follow(const OnlineEm& learner) {
  const Estimate average = learner.working_average();
  engine_->set_basis(average.basis);
  engine_->set_law(average.law);
  engine_->set_season(average.season);
  engine_->set_prior(average.prior);
  scale_ = average.prior.has_scale() ? average.prior.scale() : Vector();
}

Vector AverageFilter::filtered_activation() const {
  Vector x = engine_->filtered_activation();
  x.head(scale_.size()).array() /= scale_.array();
  return x;
}

void AverageFilter::exchange(StateArchive& archive) {
  engine_->exchange(archive);
  archive(scale_);
  archive.expect(scale_.size() <= engine_->emission().num_columns() && scale_.allFinite() &&
                     (scale_.array() > 0).all(),
                 "an invalid scale");
}

}  // namespace headwater
