#include <algorithm>
#include <utility>

#include "headwater/learning/laplace_em.hpp"
#include "headwater/learning/refinement.hpp"
#include "headwater/session/fit.hpp"

// What a fit of unbounded activations learns from looks at all observations so far at once. Online
// EM hardly moves columns that have taken in parts of each other (decision 65), so that the start
// would decide. Each time that the observations have doubled, the fit goes on from their estimate.
// The fit as it was runs beside it for a while, and comes back if it predicts clearly better.

namespace headwater {

namespace {

// As in a search for a start: 32 MB of counts.
constexpr Index kMostCells = Index{1} << 22;
// The estimate under way is near already.
constexpr std::int64_t kIterationsOfALook = 30;
constexpr double kSmallGain = 0.05;  // nats
// The fit as it was is judged on an eighth as many observations as were looked at.
constexpr std::int64_t kPartOfComparison = 8;
constexpr double kClearlyBetter = 3;

}  // namespace

// Not where somebody has asked for steps of another size, which may forget the past on purpose.
bool Session::Fit::may_take_looks(const Estimate& start) const {
  return waits_for_search() && !is_by_rounds() && !is_continued_ &&
         num_channels_ * 2 * length_of_start_ <= kMostCells &&
         most_to_refine_on(start) >= 2 * length_of_start_;
}

void Session::Fit::keep_for_looks(const Observation& y) {
  if (looked_at_.empty()) return;
  const Index most =
      std::min(kMostCells / num_channels_, most_to_refine_on(leader_->learner.working()));
  if (looked_at_.size() < most) {
    looked_at_.add(y);
  } else {
    looked_at_ = Record();
  }
}

bool Session::Fit::has_look_to_take() const {
  const std::int64_t now = looked_at_.size();
  return now != last_look_ && is_look_due(now, length_of_start_);
}

// If a callback throws, or the fit is put away by one, the look is taken before the next
// observation.
void Session::Fit::look() {
  const std::int64_t now = looked_at_.size();
  const Record kept = guards() ? without_lone_giants(looked_at_) : Record();
  const RecordView usual = guards() ? RecordView(kept) : RecordView(looked_at_);
  Contender next = *leader_;
  BatchEmOptions options;
  options.max_iterations = kIterationsOfALook;
  options.tolerance = kSmallGain;
  options.m_step = next.learner.m_step().options();
  const Estimate before = next.learner.reported();
  BatchEmResult found =
      laplace_em(usual, before, options, [&](std::int64_t, double, const Estimate&) {
        if (on_search.get()) on_search.get()(1, 1);
      });
  const bool is_better = predicts_better(found.estimate, before, usual, config_.seed);
  last_look_ = now;
  if (!is_better) return;
  next.take_up(std::move(found.estimate), [&](const Estimate& estimate, Index num_stretches) {
    return refined_statistics(usual, estimate, num_stretches, next.learner.learns_prior());
  });
  rival_ = std::move(leader_);
  leader_.emplace(std::move(next));
  race_ = Race(now + now / kPartOfComparison, kClearlyBetter);
}

}  // namespace headwater
