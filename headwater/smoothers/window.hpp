#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "headwater/emission/statistics.hpp"
#include "headwater/matrix.hpp"

namespace headwater {

// When a smoother that works backward over a window of observations does so.
struct WindowOptions {
  // A statistic is taken when this many later observations are in. 0: as many as the tolerance
  // asks for.
  Index lag = 0;
  // How much of a difference between two laws of the state may survive `lag` steps of the chain
  // before the data are seen: lag = log(tolerance) / log(contraction), at most max_lag.
  double tolerance = 1e-6;
  Index max_lag = 200;
  // Observations between two updates of the statistics. 0: a 32nd of those so far, from the
  // smallest block at the beginning to 64, as the stream gets longer and each observation changes
  // less.
  Index block = 0;
  Index smallest_block = 16;
};

// Under this law. Levels that drift follow the stream from its first rows on, and what they are to
// follow is learned with each of them: blocks begin with one observation.
WindowOptions window_under(const AnyLaw& law, WindowOptions options);
// The lag that a chain of this contraction needs.
Index window_lag(const WindowOptions& options, double contraction);
Index window_block(const WindowOptions& options, std::int64_t observations);
// Whether it can be a lag or a block that was saved: no option allows for more than a million.
inline bool is_window_length(Index length) { return length >= 0 && length <= 1'000'000; }

// What each of the observations to enter counts for, oldest first: its step size gamma_t times
// (1 - gamma_r) of all after it. Discounts the statistics so far accordingly, and counts the
// observations in.
void enter_observations(std::span<const double> step_sizes, std::span<double> coefficients,
                        Statistics& statistics);

// Filter steps one after another, oldest first. What is dropped keeps its memory for the steps to
// come, so that a window in its steady state allocates nothing.
template <class Step>
class StepRing {
 public:
  Step& push() {
    if (size_ == static_cast<Index>(steps_.size())) steps_.emplace_back();
    return steps_[static_cast<std::size_t>(size_++)];
  }
  void drop_oldest(Index count) {
    std::rotate(steps_.begin(), steps_.begin() + count, steps_.begin() + size_);
    size_ -= count;
  }
  void clear() { size_ = 0; }
  Index size() const { return size_; }
  Step& operator[](Index s) { return steps_[static_cast<std::size_t>(s)]; }
  const Step& operator[](Index s) const { return steps_[static_cast<std::size_t>(s)]; }
  Step& newest() { return (*this)[size_ - 1]; }
  std::span<const Step> steps() const { return {steps_.data(), static_cast<std::size_t>(size_)}; }

  // exchange_step(step): each of them.
  template <class ExchangeStep>
  void exchange(StateArchive& archive, const ExchangeStep& exchange_step) {
    archive.count(size_);
    if (static_cast<Index>(steps_.size()) < size_) steps_.resize(static_cast<std::size_t>(size_));
    for (Index s = 0; s < size_; ++s) exchange_step((*this)[s]);
  }

 private:
  std::vector<Step> steps_;
  Index size_ = 0;
};

// The window of a smoother that goes back over it once a block: when lag + block steps wait, the
// oldest of them enter the statistics. The last step that has entered stays, for the moves out of
// it. Step has a step_size.
template <class Step>
class StepWindow : public StepRing<Step> {
 public:
  StepWindow(const WindowOptions& options, Index lag)
      : options_(options), lag_(lag), block_(window_block(options, 0)) {}

  Index lag() const { return lag_; }

  Index first_waiting() const { return has_entered_ ? 1 : 0; }
  Index num_waiting() const { return this->size() - first_waiting(); }
  bool is_due() const { return num_waiting() >= lag_ + block_; }
  Index num_due() const { return num_waiting() - lag_; }

  // The oldest `count` of those that wait enter: what each step of the window counts for.
  std::span<const double> enter(Index count, Statistics& statistics) {
    step_sizes_.clear();
    for (Index s = 0; s < count; ++s) {
      step_sizes_.push_back((*this)[first_waiting() + s].step_size);
    }
    coefficients_.assign(static_cast<std::size_t>(this->size()), 0);
    enter_observations(step_sizes_,
                       std::span(coefficients_).subspan(first_waiting(), step_sizes_.size()),
                       statistics);
    return coefficients_;
  }
  void drop_entered(Index count) {
    this->drop_oldest(first_waiting() + count - 1);
    has_entered_ = true;
  }
  // Nothing that has entered leads to the next step.
  void clear() {
    StepRing<Step>::clear();
    has_entered_ = false;
  }
  // The next block, after so many observations. The lag may have to grow with the prior's memory:
  // it does so over several blocks, so that M-steps do not pause until the window is full.
  void start_block(std::int64_t observations, Index wanted_lag) {
    lag_ = std::min(wanted_lag, lag_ + (block_ + 1) / 2);
    start_block(observations);
  }
  void start_block(std::int64_t observations) { block_ = window_block(options_, observations); }

  template <class ExchangeStep>
  void exchange(StateArchive& archive, const ExchangeStep& exchange_step) {
    archive(lag_, block_, has_entered_);
    archive.expect(is_window_length(lag_) && is_window_length(block_) && block_ > 0,
                   "a window of invalid length");
    StepRing<Step>::exchange(archive, exchange_step);
    archive.expect(!has_entered_ || this->size() > 0, "a window without the step that has entered");
  }

 private:
  WindowOptions options_;
  Index lag_;
  Index block_;
  bool has_entered_ = false;
  std::vector<double> step_sizes_;
  std::vector<double> coefficients_;
};

}  // namespace headwater
