#include <algorithm>
#include <utility>

#include "headwater/learning/refinement.hpp"
#include "headwater/session/fit.hpp"

// What a fit of unbounded activations learns from looks at all observations so far at once. Online
// EM hardly moves columns that have taken in parts of each other (docs/decisions/65-looks.md), so
// the start would decide. Each time that the observations have doubled, they are looked at again.

namespace headwater {

namespace {

// As in a search for a start: 32 MB of counts.
constexpr Index kMostCells = Index{1} << 22;

// The estimate under way is near already.
constexpr RefinementEffort kLook = {.iterations = 15, .last_iterations = 8, .least_entry = 0};

}  // namespace

// Not where somebody has asked for steps of another size, which may forget the past on purpose.
bool Session::Fit::takes_looks() const {
  if (!leader_ || is_by_rounds() || is_continued_ || !waits_for_search() || !has_searched_) {
    return false;
  }
  return num_channels_ * 2 * length_of_start_ <= kMostCells &&
         most_to_refine_on(leader_->learner.last()) >= 2 * length_of_start_;
}

void Session::Fit::keep_for_looks(const Observation& y) {
  if (looked_at_.empty()) return;
  const Index most =
      std::min(kMostCells / num_channels_, most_to_refine_on(leader_->learner.last()));
  if (looked_at_.size() < most) {
    looked_at_.add(y);
  } else {
    looked_at_ = Record();
  }
}

void Session::Fit::look_if_due() {
  if (looked_at_.empty() || !is_look_due(looked_at_.size(), length_of_start_)) return;
  keep_prediction();
  const Record kept = guards() ? without_lone_giants(looked_at_) : Record();
  const RecordView usual = guards() ? RecordView(kept) : RecordView(looked_at_);
  OnlineEm& learner = leader_->learner;
  const MStepOptions& options = learner.m_step().options();
  auto found = refined(usual, learner.reported(), {}, options, kLook, config_.seed, [&] {
    if (on_search.get()) on_search.get()(1, 1);
  });
  if (!found) return;
  leader_->take_up(std::move(*found), [&](const Estimate& estimate) {
    return refined_statistics(usual, estimate, learner.learns_prior());
  });
}

}  // namespace headwater
