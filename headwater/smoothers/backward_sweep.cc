#include "headwater/smoothers/backward_sweep.hpp"

namespace headwater {

void ExactStep::remember(const ExactFilter& filter, const Observation& y, double gamma) {
  filtered = filter.filtered();
  ratio = filter.ratio();
  transition = filter.transition();
  observation = y;
  step_size = gamma;
}

void BackwardSweep::run(std::span<const ExactStep> steps, const Vector* before,
                        std::span<const double> coefficients, Vector& beta,
                        std::span<double> moves) {
  num_weighted_ = static_cast<Index>(coefficients.size());
  if (weights_.rows() != beta.size() || weights_.cols() < num_weighted_) {
    weights_.resize(beta.size(), num_weighted_);
  }
  for (Index t = static_cast<Index>(steps.size()) - 1; t >= 0; --t) {
    const ExactStep& step = steps[t];
    const Vector* previous = t > 0 ? &steps[t - 1].filtered : before;
    const bool is_weighted = t < num_weighted_;
    // The law sums to one but for rounding, which must not build up over a long sweep.
    beta *= 1 / step.filtered.dot(beta);
    if (is_weighted) weights_.col(t) = coefficients[t] * step.filtered.cwiseProduct(beta);
    beta = beta.cwiseProduct(step.ratio);
    if (is_weighted && previous != nullptr && !moves.empty()) {
      retreat_counting_moves(step, *previous, coefficients[t], beta, moves);
    } else {
      step.transition->pull(as_span(beta));
    }
  }
}

void BackwardSweep::retreat_counting_moves(const ExactStep& step, const Vector& before,
                                           double coefficient, Vector& beta,
                                           std::span<double> moves) {
  const KroneckerOperator& transition = *step.transition;
  const Index num_axes = transition.num_axes();
  pushed_.resize(before.size(), num_axes);
  pushed_.col(0) = before;
  for (Index k = 1; k < num_axes; ++k) {
    pushed_.col(k) = pushed_.col(k - 1);
    transition.push_axis(k - 1, as_span(pushed_.col(k)));
  }
  // Axis by axis from the last: the law has come as far as the axes before k, the expectation back
  // through the axes after k, and between them lies the move along k itself.
  std::size_t end = moves.size();
  for (Index k = num_axes - 1; k >= 0; --k) {
    const auto count = static_cast<std::size_t>(transition.size(k) * transition.size(k));
    end -= count;
    transition.add_moves(k, as_span(pushed_.col(k)), as_span(beta), coefficient,
                         moves.subspan(end, count));
    transition.pull_axis(k, as_span(beta));
  }
}

}  // namespace headwater
