#include "headwater/engines/exact_batch.hpp"

#include <algorithm>
#include <cmath>

#include "headwater/emission/shared_rows.hpp"

namespace headwater {

namespace {

// Border laws and one segment's laws together are fewest when both number sqrt(T).
Index segment_length(Index length) {
  return std::max<Index>(16, static_cast<Index>(std::sqrt(static_cast<double>(length))));
}

}  // namespace

ExactBatch::ExactBatch(const FiniteChain& chain, const Emission& emission,
                       const RecordView& observations)
    : observations_(observations),
      filter_(chain, emission),
      segment_(segment_length(observations.size())),
      impossible_at_(static_cast<std::size_t>(observations.size())) {
  divide();
  run_forward();
}

void ExactBatch::divide() {
  const std::vector<Index> begins = observations_.sequences();
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const Index end = i + 1 < begins.size() ? begins[i + 1] : observations_.size();
    for (Index first = begins[i]; first < end; first += segment_) {
      const Index size = std::min(segment_, end - first);
      segments_.push_back({first, size, first == begins[i], first + size == end, {}});
    }
  }
}

void ExactBatch::run_forward() {
  for (Segment& segment : segments_) {
    if (segment.begins) filter_.restart();
    for (Index t = segment.first; t < segment.first + segment.size; ++t) {
      const FilterStep step = filter_.step(observations_[t]);
      if (!step.impossible) log_likelihood_ += step.log_predictive;
      impossible_ += step.impossible;
      impossible_at_[t] = step.impossible;
    }
    if (!segment.ends) segment.border = filter_.filtered();
  }
}

void ExactBatch::sweep_back(double coefficient, Index lead_in, std::span<double> moves,
                            const Visit& visit) {
  BackwardSweep sweep;
  std::vector<ExactStep> steps(static_cast<std::size_t>(segment_));
  Vector beta;
  for (std::size_t s = segments_.size(); s-- > 0;) {
    const Segment& segment = segments_[s];
    if (segment.ends) beta.setOnes(filter_.states().rows());
    const Vector* before = segment.begins ? nullptr : &segments_[s - 1].border;
    if (before != nullptr) {
      filter_.restart_at(*before);
    } else {
      filter_.restart();
    }
    const auto count = static_cast<std::size_t>(segment.size);
    for (std::size_t i = 0; i < count; ++i) {
      const Observation& y = observations_[segment.first + static_cast<Index>(i)];
      filter_.step(y);
      steps[i].remember(filter_, y, coefficient);
    }
    const std::vector<double> coefficients(count, coefficient);
    const Vector* law_before = segment.begins && lead_in > 0 ? &filter_.initial() : before;
    sweep.run({steps.data(), count}, law_before, coefficients, beta, moves);
    visit(segment.first, sweep.weights());
    if (segment.begins) sweep_lead_in(sweep, coefficient, lead_in, beta, moves);
  }
}

// Unseen steps of a stationary chain: the law stays, and nothing is weighed.
void ExactBatch::sweep_lead_in(BackwardSweep& sweep, double coefficient, Index lead_in,
                               Vector& beta, std::span<double> moves) {
  ExactStep step;
  step.filtered = filter_.initial();
  step.ratio.setOnes(step.filtered.size());
  step.transition = filter_.transition();
  for (Index t = 1; t < lead_in; ++t) {
    sweep.run({&step, 1}, &filter_.initial(), {&coefficient, 1}, beta, moves);
  }
}

Statistics ExactBatch::statistics(bool with_moves, Index lead_in) {
  const Index length = observations_.size();
  const Emission& emission = filter_.emission();
  Statistics statistics =
      statistics_for(emission, with_moves ? filter_.transition()->num_moves() : 0);
  const std::unique_ptr<EmissionSums> sums = emission.sums();
  for (PhaseSums& phases : statistics.phases) phases.recency = 1;
  Observation nothing_seen;
  nothing_seen.assign_missing(emission.num_channels());
  const double weight = 1 / static_cast<double>(length);
  SharedRows rows(statistics);
  sweep_back(weight, lead_in, as_span(statistics.s3),
             [&](Index first, const Eigen::Ref<const Matrix>& laws) {
               std::vector<const Observation*> seen;
               for (Index t = first; t < first + laws.cols(); ++t) {
                 seen.push_back(is_impossible(t) ? &nothing_seen : &observations_[t]);
               }
               sums->add(filter_.states(), emission, laws, seen, statistics);
             });
  rows.gather();
  for (Index t = 0; t < length; ++t) statistics.count_observation(weight);
  return statistics;
}

Matrix ExactBatch::smoothed_activations() {
  Matrix means(observations_.size(), filter_.states().cols());
  sweep_back(1, 0, {}, [&](Index first, const Eigen::Ref<const Matrix>& laws) {
    means.middleRows(first, laws.cols()).noalias() = laws.transpose() * filter_.states();
  });
  return means;
}

}  // namespace headwater
