#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "headwater/any_prior.hpp"
#include "headwater/emission.hpp"
#include "headwater/emission/statistics.hpp"
#include "headwater/prediction.hpp"
#include "headwater/random.hpp"
#include "headwater/reports.hpp"

namespace headwater {

// How the E-step of online EM is done: a filter that moves the law of the activations, and a
// smoother that keeps the averaged statistics up to date. Online EM knows engines by
// this only.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual std::unique_ptr<Engine> clone() const = 0;

  // Parameters for the observations to come.
  virtual void set_prior(const AnyPrior& prior) = 0;
  virtual void set_basis(const Matrix& basis) = 0;
  virtual void set_law(const AnyLaw& law) = 0;
  virtual void set_season(const Season& season) = 0;
  virtual const Emission& emission() const = 0;
  const Matrix& basis() const { return emission().basis(); }
  // The position of the last observation, and the emission there: see Emission::at.
  virtual std::int64_t position() const = 0;
  virtual const Emission& emission_now() const { return emission().at(position()); }

  // Takes in the next observation, which is to weigh `step_size` in the statistics.
  virtual FilterStep step(const Observation& y, double step_size) = 0;
  // The next observation is taken in elsewhere, with all of its sequence: time goes on without it,
  // so that later sequences have the random numbers that they would have had.
  virtual void pass_over() = 0;
  // Of an engine that has seen nothing: so many observations were taken in elsewhere, and the next
  // one begins anew, with the random numbers of its time.
  virtual void begin_after(std::int64_t observations) = 0;
  // The stream has ended: takes in what the smoother still holds back.
  virtual void finish() = 0;
  // From now on it only filters, and has no statistics.
  virtual void stop_smoothing() = 0;

  // Whether the last call of step() or finish() has changed the statistics.
  virtual bool has_new_statistics() const = 0;
  virtual const Statistics& statistics() const = 0;
  // The same, for the learner to rewrite; null where the engine cannot have that.
  virtual Statistics* mutable_statistics() { return nullptr; }

  // Puts its state into the archive, or takes it up from there. An engine that reads was made with
  // the same options; priors and bases are read.
  virtual void exchange(StateArchive& archive) = 0;

  virtual Vector predicted_activation() const = 0;  // E[x_t | y_1..t-1], background included
  virtual Vector filtered_activation() const = 0;   // E[x_t | y_1..t]
  // Of the channels at the last step, before its counts were seen; empty where they have none.
  virtual const ExpectedLevels& expected_levels() const {
    static const ExpectedLevels kNone;
    return kNone;
  }
  // The season of each channel beyond that of its components: see Season::channel_profiles.
  virtual std::vector<Matrix> channel_profiles() const { return {}; }
  // Draws of x_t given y_1..t-1, one a row, background included.
  virtual void sample_predicted(Generator& generator, Matrix& out) const = 0;
  // The law of x_t given y_1..t-1, and where y_t has moved it.
  virtual void write_prediction(PredictedActivations& out) const = 0;
};

}  // namespace headwater
