#include "headwater/filters/state_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headwater {

namespace {

// States that are less likely than the best one by more than this are out of reach: e^-25 = 1e-11.
constexpr double kReach = 25;
// A search ends when an eighth of all it may do has added no more than this part of the mass.
constexpr double kLeastGain = 1e-4;
// A channel that no source reaches counts as if it had this intensity, so that a search that begins
// where nothing explains the counts finds its way.
constexpr double kLeastIntensity = 1e-300;
constexpr std::size_t kFirstSlots = 1024;
// Mass moves between mixtures until a sweep over all axes gains no more than this, or so often.
constexpr double kSmallGain = 0.1;
constexpr int kMostSweeps = 30;
constexpr double kMostLost = 0.9;  // of an intensity, at a time

}  // namespace

void StateSearch::Places::clear() {
  if (slots_.empty()) slots_.resize(kFirstSlots);
  for (Slot& slot : slots_) slot.place = -1;
  count_ = 0;
}

std::int32_t StateSearch::Places::find_or_add(PackedState state, std::int32_t place) {
  if (4 * (count_ + 1) > slots_.size()) grow();
  // Fibonacci hashing: the upper bits of the product are well mixed.
  std::size_t at = (state * 0x9E3779B97F4A7C15u) >> 32;
  for (;; ++at) {
    Slot& slot = slots_[at & (slots_.size() - 1)];
    if (slot.place < 0) {
      slot = {state, place};
      ++count_;
      return -1;
    }
    if (slot.state == state) return slot.place;
  }
}

void StateSearch::Places::grow() {
  std::vector<Slot> before(2 * slots_.size());
  before.swap(slots_);
  clear();
  for (const Slot& slot : before) {
    if (slot.place >= 0) find_or_add(slot.state, slot.place);
  }
}

void StateSearch::look_at(const PackedChain& chain, const Evidence& evidence,
                          const std::vector<Vector>& laws) {
  chain_ = &chain;
  evidence_ = &evidence;
  laws_ = &laws;
  const Eigen::Map<const RowMatrix> rows = evidence.rows();
  parts_.resize(static_cast<std::size_t>(chain.num_axes()));
  totals_.resize(parts_.size());
  Index column = 0;
  for (Index k = 0; k < chain.num_axes(); ++k) {
    const Matrix& states = chain.axis(k).states;
    const auto axis = static_cast<std::size_t>(k);
    parts_[axis].resize(rows.rows(), states.rows()).noalias() =
        rows.middleCols(column, states.cols()) * states.transpose();
    totals_[axis].setZero(states.rows());
    if (evidence.any()) {
      totals_[axis].noalias() = states * evidence.total().segment(column, states.cols());
    }
    column += states.cols();
  }
  background_.resize(rows.rows()) = rows.rightCols(rows.cols() - column).rowwise().sum();
}

void StateSearch::run(std::span<const PackedState> begin, Index most) {
  found_.clear();
  waiting_.clear();
  places_.clear();
  best_ = -std::numeric_limits<double>::infinity();
  for (const PackedState state : begin) take(state, score_of(state));
  const PackedState mode = mode_of_mixtures();
  take(mode, score_of(mode));
  Index expanded = 0;  // without finding a better one: the way up does not count
  double mass = 0;     // of the first `counted` found, relative to the best when they were
  double reference = best_;
  std::size_t counted = 0;
  const auto gains_little = [&] {
    const double before = mass * std::exp(reference - best_);
    mass = before;
    reference = best_;
    for (; counted < found_.size(); ++counted) mass += std::exp(found_[counted].score - best_);
    return mass <= (1 + kLeastGain) * before;
  };
  while (expanded < most && !waiting_.empty()) {
    const Waiting next = waiting_.front();
    if (next.score < best_ - kReach) break;
    std::pop_heap(waiting_.begin(), waiting_.end());
    waiting_.pop_back();
    const double best_before = best_;
    score_neighbours(found_[static_cast<std::size_t>(next.place)].state);
    if (best_ > best_before) continue;
    ++expanded;
    if (expanded % std::max<Index>(1, most / 8) == 0 && gains_little()) break;
  }
  drop_what_is_out_of_reach();
}

// The likeliest state of each axis in the mixtures of highest score.
PackedState StateSearch::mode_of_mixtures() {
  auto intensity = intensities_.resize(background_.size());
  intensity = background_.view();
  mixtures_.resize(parts_.size());
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    mixtures_[k] = (*laws_)[k].array().exp();
    intensity.noalias() += parts_[k].view() * mixtures_[k];
  }
  double gain = kSmallGain + 1;
  for (int sweep = 0; sweep < kMostSweeps && gain > kSmallGain; ++sweep) {
    gain = 0;
    for (std::size_t k = 0; k < parts_.size(); ++k) gain += move_mass(k);
  }
  PackedState mode = 0;
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    Index likeliest = 0;
    mixtures_[k].maxCoeff(&likeliest);
    mode = chain_->with_axis(mode, static_cast<Index>(k), likeliest);
  }
  return mode;
}

// From the state that is worth least to the one that is worth most, as far as a parabola says.
double StateSearch::move_mass(std::size_t k) {
  const auto parts = parts_[k].view();
  Vector& mixture = mixtures_[k];
  auto intensity = intensities_.view();
  intensity = intensity.cwiseMax(kLeastIntensity);
  evidence_->forces(as_span(intensity), forces_);
  if (!forces_.losses.empty()) {
    for (std::size_t j = 0; j < forces_.gains.size(); ++j) forces_.gains[j] -= forces_.losses[j];
  }
  const Eigen::Map<const Vector> pull(forces_.gains.data(), intensity.size());
  slopes_.setZero(parts.cols());
  Reducer::sum(evidence_->stretches(), as_span(slopes_), [&](const Stretch& s, auto out) {
    const auto first = static_cast<Index>(s.first);
    const auto size = static_cast<Index>(s.size);
    Eigen::Map<Vector>(out.data(), slopes_.size()).noalias() +=
        parts.middleRows(first, size).transpose() * pull.segment(first, size);
  });
  slopes_ += (*laws_)[k] - totals_[k];
  Index to = 0;
  slopes_.maxCoeff(&to);
  Index from = to;
  for (Index i = 0; i < slopes_.size(); ++i) {
    if (mixture[i] > 0 && slopes_[i] < slopes_[from]) from = i;
  }
  const double slope = slopes_[to] - slopes_[from];
  if (!(slope > 0)) return 0;
  auto change = neighbours_.resize(intensity.size());
  change = parts.col(to) - parts.col(from);
  const double curvature = Reducer::sum(evidence_->stretches(), [&](const Stretch& s) {
    const auto first = static_cast<Index>(s.first);
    const auto size = static_cast<Index>(s.size);
    const Eigen::Map<const Vector> curvatures(forces_.curvatures.data() + s.first, size);
    return (curvatures.array() * change.segment(first, size).array().square()).sum();
  });
  double mass = curvature * mixture[from] > slope ? slope / curvature : mixture[from];
  // No channel may lose its last intensity: a listed one may have a count.
  for (Index j = 0; j < intensity.size(); ++j) {
    if (change[j] < 0) mass = std::min(mass, -kMostLost * intensity[j] / change[j]);
  }
  mixture[to] += mass;
  mixture[from] -= mass;
  intensity += mass * change;
  return mass * slope;
}

void StateSearch::take(PackedState state, double score) {
  if (score < best_ - kReach) return;
  const auto place = static_cast<std::int32_t>(found_.size());
  if (places_.find_or_add(state, place) >= 0) return;
  best_ = std::max(best_, score);
  found_.push_back({state, score});
  waiting_.push_back({score, place});
  std::push_heap(waiting_.begin(), waiting_.end());
}

void StateSearch::drop_what_is_out_of_reach() {
  std::erase_if(found_, [&](const Found& found) { return found.score < best_ - kReach; });
}

void StateSearch::set_intensity(PackedState state) {
  auto intensity = intensities_.resize(background_.size());
  intensity = background_.view();
  for (Index k = 0; k < chain_->num_axes(); ++k) {
    intensity += parts_[static_cast<std::size_t>(k)].view().col(chain_->on_axis(state, k));
  }
}

double StateSearch::score_of(PackedState state) {
  set_intensity(state);
  auto floored = neighbours_.resize(intensities_.size());
  floored = intensities_.view().cwiseMax(kLeastIntensity);
  double score = evidence_->value(as_span(floored));
  for (Index k = 0; k < chain_->num_axes(); ++k) {
    const Index i = chain_->on_axis(state, k);
    const auto axis = static_cast<std::size_t>(k);
    score += (*laws_)[axis][i] - totals_[axis][i];
  }
  return score;
}

void StateSearch::score_neighbours(PackedState state) {
  set_intensity(state);
  const auto intensity = intensities_.view();
  auto neighbour = neighbours_.resize(intensity.size());
  double rest = 0;  // of the score: all but the terms of the listed channels
  for (Index k = 0; k < chain_->num_axes(); ++k) {
    const auto axis = static_cast<std::size_t>(k);
    const Index here = chain_->on_axis(state, k);
    rest += (*laws_)[axis][here] - totals_[axis][here];
  }
  for (Index k = 0; k < chain_->num_axes(); ++k) {
    const auto axis = static_cast<std::size_t>(k);
    const auto parts = parts_[axis].view();
    const Vector& law = (*laws_)[axis];
    const Index here = chain_->on_axis(state, k);
    for (Index i = 0; i < parts.cols(); ++i) {
      if (i == here || law[i] == -std::numeric_limits<double>::infinity()) continue;
      const double change = law[i] - totals_[axis][i] - law[here] + totals_[axis][here];
      neighbour = (intensity - parts.col(here) + parts.col(i)).cwiseMax(kLeastIntensity);
      take(chain_->with_axis(state, k, i), evidence_->value(as_span(neighbour)) + rest + change);
    }
  }
}

}  // namespace headwater
