#include "headwater/prediction.hpp"

#include <cmath>

#include "headwater/engines/engine.hpp"

namespace headwater {

namespace {

Prediction with_emission(const Engine& engine, std::int64_t t,
                         std::shared_ptr<const Emission> emission) {
  Prediction prediction{t, {}, std::move(emission), engine.expected_levels()};
  engine.write_prediction(prediction.activations);
  return prediction;
}

}  // namespace

Vector activation_variances(const PredictedActivations& x, const Vector& means) {
  if (!x.is_logarithmic) return x.variances;
  Vector variances = x.variances.array().min(50).unaryExpr([](double v) { return std::expm1(v); });
  variances.array() *= means.head(variances.size()).array().square();
  return variances;
}

Prediction prediction_of(const Engine& engine, std::int64_t t) {
  // Not owned.
  return with_emission(engine, t, {std::shared_ptr<void>(), &engine.emission_now()});
}

Prediction kept_prediction_of(const Engine& engine, std::int64_t t) {
  return with_emission(engine, t, std::make_shared<Emission>(engine.emission_now()));
}

}  // namespace headwater
