#include "headwater/prediction.hpp"

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

Prediction prediction_of(const Engine& engine, std::int64_t t) {
  // Not owned.
  return with_emission(engine, t, {std::shared_ptr<void>(), &engine.emission_now()});
}

Prediction kept_prediction_of(const Engine& engine, std::int64_t t) {
  return with_emission(engine, t, std::make_shared<Emission>(engine.emission_now()));
}

}  // namespace headwater
