#include "headwater/learning/expectation_choice.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace headwater {

namespace {

// Never none: a channel that has been silent may wake up, and what an entry of 0 costs then is more
// than what all else gains.
constexpr std::array<double, 5> kCounts = {kLeastExpectation, 1, kUsualExpectation, 10, 30};
constexpr std::size_t kUsual = 2;
// What another number must gain, in nats over all that is held out: silence is predicted best, by
// next to nothing, with hardly any.
constexpr double kGainInAll = 5;
// Predictions by particles are noisy: one number that does not improve them is no sign.
constexpr int kMostFailures = 2;

// The predictions with each number of counts, several at once. How many are at hand before they are
// asked for does not change the answers.
class PredictionsAhead {
 public:
  using PredictWith = std::function<Vector(double counts)>;

  PredictionsAhead(SearchTasks& tasks, PredictWith predict_with)
      : tasks_(tasks), predict_with_(std::move(predict_with)) {
    all_.reserve(kCounts.size());  // so that references stay
    make(1 + kMostFailures);       // which are asked for in any case
  }

  const Vector& with(std::size_t number) {
    if (number >= all_.size()) make(static_cast<std::size_t>(tasks_.num_threads()));
    return all_[number];
  }

 private:
  void make(std::size_t count) {
    const std::size_t first = all_.size();
    all_.resize(std::min(first + count, kCounts.size()));
    tasks_.run(std::ssize(all_) - static_cast<Index>(first), [&](Index i) {
      const std::size_t own = first + static_cast<std::size_t>(i);
      all_[own] = predict_with_(kCounts[own]);
    });
  }

  SearchTasks& tasks_;
  PredictWith predict_with_;
  std::vector<Vector> all_;
};

}  // namespace

ExpectationChoice choose_expectation(const BasisExpectation& expectation,
                                     const PredictExpecting& predict, SearchTasks& tasks) {
  PredictionsAhead predictions(tasks, [&](double counts) {
    BasisExpectation trial = expectation;
    trial.counts = counts;
    return predict(trial);
  });
  std::size_t best = 0;
  int failures = 0;
  for (std::size_t trial = 1; trial < kCounts.size() && failures < kMostFailures; ++trial) {
    if (predictions.with(trial).mean() > predictions.with(best).mean()) {
      best = trial;
      failures = 0;
    } else {
      ++failures;
    }
  }
  const Gain gain = gain_of(predictions.with(best), predictions.with(kUsual));
  const double in_all = gain.mean * static_cast<double>(predictions.with(best).size());
  if (!(gain.mean > gain.standard_error && in_all > kGainInAll)) best = kUsual;
  ExpectationChoice choice{expectation, {kCounts[best], gain.mean, gain.standard_error}};
  choice.expectation.counts = kCounts[best];
  return choice;
}

}  // namespace headwater
