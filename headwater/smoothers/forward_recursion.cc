#include "headwater/smoothers/forward_recursion.hpp"

#include <algorithm>
#include <cmath>

namespace headwater {

namespace {

// Calls add(x, m, weight law(x) y_m / lambda_m(x)) wherever a positive count could have come from
// state x: times B(m, k) x_k, that is what component k is expected to have given of it.
template <class Add>
void share_out_counts(const ExactFilter& filter, const Vector& law, Observation y, double weight,
                      const Add& add) {
  for (Index m = 0; m < filter.basis().rows(); ++m) {
    if (!(y[m] > 0)) continue;
    for (Index x = 0; x < filter.states().rows(); ++x) {
      const double intensity = filter.basis().row(m).dot(filter.states().row(x));
      if (intensity > 0) add(x, m, weight * law[x] * y[m] / intensity);
    }
  }
}

}  // namespace

ForwardRecursion::ForwardRecursion(const ExactFilter& filter, SecondStatistic second,
                                   bool with_moves)
    : second_(second),
      num_channels_(filter.basis().rows()),
      num_components_(filter.basis().cols()),
      num_moves_(with_moves ? filter.transition()->num_moves() : 0),
      statistics_(num_channels_, num_components_, num_moves_),
      u_(RowMatrix::Zero(filter.states().rows(), offset_unseen())) {}

std::unique_ptr<ExactSmoother> ForwardRecursion::clone() const {
  return std::make_unique<ForwardRecursion>(*this);
}

void ForwardRecursion::exchange(StateArchive& archive) {
  if (archive.is_reading()) u_.resize(0, 0);  // it may have become wider
  archive(statistics_, u_, previous_, previous_observation_, previous_step_size_);
}

bool ForwardRecursion::advance(const ExactFilter& filter, Observation y, double step_size) {
  const bool is_first = previous_.size() == 0;
  if (!is_first) {
    if (second_ == SecondStatistic::kAsPrinted) {
      add_counts(filter, previous_, previous_observation_, previous_step_size_);
    }
    filter.transition()->push(as_span(u_), u_.cols());
    u_.array().colwise() *= (1 - step_size) * filter.ratio().array();
    if (num_moves_ > 0) add_moves(filter, step_size);
  }
  add_activations(filter, step_size);
  add_unseen(filter, y, step_size);
  if (second_ == SecondStatistic::kAtOnce) {
    add_counts(filter, filter.filtered(), y, step_size);
  }
  read_out(filter, y, step_size);

  previous_ = filter.filtered();
  previous_observation_.remember(y);
  previous_step_size_ = step_size;
  return true;
}

void ForwardRecursion::add_activations(const ExactFilter& filter, double weight) {
  u_.leftCols(num_components_) +=
      weight * (filter.states().array().colwise() * filter.filtered().array()).matrix();
}

void ForwardRecursion::add_counts(const ExactFilter& filter, const Vector& law, Observation y,
                                  double weight) {
  share_out_counts(filter, law, y, weight, [&](Index x, Index m, double share) {
    u_.row(x).segment(offset_s2() + m * num_components_, num_components_) +=
        share * filter.basis().row(m).cwiseProduct(filter.states().row(x));
  });
}

void ForwardRecursion::add_unseen(const ExactFilter& filter, Observation y, double weight) {
  for (Index m = 0; m < num_channels_; ++m) {
    const double exposure = y.exposure(m);
    if (exposure == 1) continue;
    if (u_.cols() == offset_unseen()) {
      u_.conservativeResize(Eigen::NoChange, offset_unseen() + num_channels_ * num_components_);
      u_.rightCols(num_channels_ * num_components_).setZero();
    }
    u_.middleCols(offset_unseen() + m * num_components_, num_components_) +=
        weight * (1 - exposure) *
        (filter.states().array().colwise() * filter.filtered().array()).matrix();
  }
}

// For a move of axis k out of its state i, given the joint state x that it ended in: the law before
// the step, kept to x_k = i, carried forward.
void ForwardRecursion::add_moves(const ExactFilter& filter, double weight) {
  const KroneckerOperator& transition = *filter.transition();
  Index column = offset_s3();
  Vector law = previous_;
  for (Index k = 0; k < transition.num_axes(); ++k) {
    const Index size = transition.size(k);
    const Index stride = transition.stride(k);
    for (Index i = 0; i < size; ++i) {
      Vector part = law;
      for (Index x = 0; x < part.size(); ++x) {
        if (x / stride % size != i) part[x] = 0;
      }
      for (Index axis = k; axis < transition.num_axes(); ++axis) {
        transition.push_axis(axis, as_span(part));
      }
      for (Index x = 0; x < part.size(); ++x) {
        const Index j = x / stride % size;
        u_(x, column + i * size + j) += weight * part[x] * filter.ratio()[x];
      }
    }
    column += size * size;
    transition.push_axis(k, as_span(law));
  }
}

void ForwardRecursion::read_out(const ExactFilter& filter, Observation y, double step_size) {
  RowMatrix sums = u_.colwise().sum();
  const auto table = [&](Index offset) {
    return Eigen::Map<const RowMatrix>(sums.data() + offset, num_channels_, num_components_);
  };
  statistics_.s1 = sums.row(0).head(num_components_);
  statistics_.s2 = table(offset_s2());
  if (second_ == SecondStatistic::kAsPrinted) {
    share_out_counts(filter, filter.filtered(), y, step_size, [&](Index x, Index m, double share) {
      statistics_.s2.row(m) += share * filter.basis().row(m).cwiseProduct(filter.states().row(x));
    });
  }
  statistics_.s3 = sums.row(0).segment(offset_s3(), num_moves_);
  if (u_.cols() > offset_unseen()) statistics_.unseen = table(offset_unseen());
  statistics_.squared_weights *= (1 - step_size) * (1 - step_size);
  statistics_.count_observation(step_size);
}

}  // namespace headwater
