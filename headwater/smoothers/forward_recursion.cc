#include "headwater/smoothers/forward_recursion.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "headwater/core/state_checks.hpp"
#include "headwater/emission/plain_sums.hpp"

namespace headwater {

namespace {

// Calls visit(x, m, forces of the cell, count, exposure, lambda_m(x)) for the cells that a law
// looks at one by one.
template <class Visit>
void for_each_cell(const ExactFilter& filter, const Observation& y, const Visit& visit) {
  const BlockLaw& law = *filter.emission().law();
  Vector intensities(filter.states().rows());
  for_each_cell_of(law, y, [&](Index m, double count, double exposure) {
    intensities.noalias() = filter.states() * filter.basis().row(m).transpose();
    for (Index x = 0; x < intensities.size(); ++x) {
      visit(x, m, law.forces_in(y, m, count, exposure, intensities[x]), count, exposure,
            intensities[x]);
    }
  });
}

}  // namespace

ForwardRecursion::ForwardRecursion(const ExactFilter& filter, SecondStatistic second,
                                   bool with_moves)
    : second_(second),
      num_channels_(filter.basis().rows()),
      num_components_(filter.basis().cols()),
      num_moves_(with_moves ? filter.transition()->num_moves() : 0),
      num_law_statistics_(filter.emission().law()->num_statistics(num_channels_)),
      statistics_(statistics_for(filter.emission(), num_moves_)),
      sums_(filter.emission().law()->sums()),
      u_(RowMatrix::Zero(filter.states().rows(), offset_unseen())) {}

std::unique_ptr<ExactSmoother> ForwardRecursion::clone() const {
  return std::make_unique<ForwardRecursion>(*this);
}

void ForwardRecursion::exchange(StateArchive& archive, const ExactFilter& filter) {
  if (archive.is_reading()) u_.resize(0, 0);  // it may have become wider
  archive(statistics_, u_, previous_, previous_observation_, previous_step_size_);
  if (!archive.is_reading()) return;
  const Index num_states = filter.states().rows();
  const Index with_unseen = offset_unseen() + num_channels_ * num_components_;
  archive.expect(u_.rows() == num_states && u_.allFinite() &&
                     (u_.cols() == offset_unseen() || u_.cols() == with_unseen),
                 "statistics of the wrong size");
  if (previous_.size() == 0) return;  // nothing has been seen yet
  archive.expect(previous_.size() == num_states && is_law(previous_), "invalid probabilities");
  archive.expect(previous_observation_.num_channels() == num_channels_,
                 "an observation of the wrong length");
  archive.expect(is_step_size(previous_step_size_), "a step size outside [0, 1]");
}

bool ForwardRecursion::advance(const ExactFilter& filter, const Observation& y, double step_size) {
  const bool is_first = previous_.size() == 0;
  if (!is_first) {
    if (second_ == SecondStatistic::kAsPrinted) {
      add_counts(filter, previous_, previous_observation_, previous_step_size_);
    }
    if (std::exchange(begins_sequence_, false)) {
      // T is the same for every state, and U_t = (1 - gamma_t) p(x | y_t) T.
      const Eigen::RowVectorXd sums = u_.colwise().sum();
      u_.noalias() = (1 - step_size) * filter.filtered() * sums;
    } else {
      filter.transition()->push(as_span(u_), u_.cols());
      u_.array().colwise() *= (1 - step_size) * filter.ratio().array();
      if (num_moves_ > 0) add_moves(filter, step_size);
    }
  }
  add_activations(filter, step_size);
  add_unexposed(filter, y, step_size);
  if (second_ == SecondStatistic::kAtOnce) {
    add_counts(filter, filter.filtered(), y, step_size);
  }
  read_out(filter, y, step_size);

  previous_ = filter.filtered();
  previous_observation_ = y;
  previous_step_size_ = step_size;
  return true;
}

void ForwardRecursion::add_activations(const ExactFilter& filter, double weight) {
  u_.leftCols(num_components_) +=
      weight * (filter.states().array().colwise() * filter.filtered().array()).matrix();
}

void ForwardRecursion::make_room_for_unseen() {
  if (u_.cols() > offset_unseen()) return;
  u_.conservativeResize(Eigen::NoChange, offset_unseen() + num_channels_ * num_components_);
  u_.rightCols(num_channels_ * num_components_).setZero();
}

void ForwardRecursion::add_counts(const ExactFilter& filter, const Vector& law,
                                  const Observation& y, double weight) {
  const BlockLaw& of_counts = *filter.emission().law();
  const bool has_losses = !of_counts.has_plain_losses();
  if (has_losses) {
    make_room_for_unseen();
    for (std::size_t j = 0; j < y.exposed().size(); ++j) {
      if (y.exposures()[j] > 0) continue;
      u_.middleCols(offset_unseen() + y.exposed()[j] * num_components_, num_components_) +=
          weight * (filter.states().array().colwise() * law.array()).matrix();
    }
  }
  for_each_cell(filter, y,
                [&](Index x, Index m, const CellForces& forces, double count, double exposure,
                    double intensity) {
                  const double mass = weight * law[x];
                  auto own = u_.row(x);
                  own.segment(offset_s2() + m * num_components_, num_components_) +=
                      mass * forces.gain *
                      filter.basis().row(m).cwiseProduct(filter.states().row(x));
                  if (num_law_statistics_ > 0) {
                    of_counts.add_statistics(
                        m, count, exposure, intensity, mass,
                        {own.data() + offset_s4(), static_cast<std::size_t>(num_law_statistics_)});
                  }
                  if (!has_losses) return;
                  own.segment(offset_unseen() + m * num_components_, num_components_) +=
                      mass * (1 - forces.loss) * filter.states().row(x);
                });
}

void ForwardRecursion::add_unexposed(const ExactFilter& filter, const Observation& y,
                                     double weight) {
  if (!filter.emission().law()->has_plain_losses()) return;
  for (std::size_t j = 0; j < y.exposed().size(); ++j) {
    make_room_for_unseen();
    u_.middleCols(offset_unseen() + y.exposed()[j] * num_components_, num_components_) +=
        weight * (1 - y.exposures()[j]) *
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
    // Runs of `stride` states have one state of axis k; run r has state r % size.
    const auto run_of = [&](Vector& values, Index r) { return values.segment(r * stride, stride); };
    const Index num_runs = law.size() / stride;
    for (Index i = 0; i < size; ++i) {
      Vector part = Vector::Zero(law.size());
      for (Index r = i; r < num_runs; r += size) run_of(part, r) = run_of(law, r);
      for (Index axis = k; axis < transition.num_axes(); ++axis) {
        transition.push_axis(axis, as_span(part));
      }
      part = weight * part.cwiseProduct(filter.ratio());
      for (Index j = 0; j < size; ++j) {
        auto moves = u_.col(column + i * size + j);
        for (Index r = j; r < num_runs; r += size) {
          moves.segment(r * stride, stride) += run_of(part, r);
        }
      }
    }
    column += size * size;
    transition.push_axis(k, as_span(law));
  }
}

void ForwardRecursion::read_out(const ExactFilter& filter, const Observation& y, double step_size) {
  const RowMatrix sums = u_.colwise().sum();
  const auto table = [&](Index offset) {
    return Eigen::Map<const RowMatrix>(sums.data() + offset, num_channels_, num_components_);
  };
  statistics_.s1 = sums.row(0).head(num_components_);
  statistics_.s2 = table(offset_s2());
  statistics_.s3 = sums.row(0).segment(offset_s3(), num_moves_);
  statistics_.s4 = sums.row(0).segment(offset_s4(), num_law_statistics_);
  if (u_.cols() > offset_unseen()) statistics_.unseen = table(offset_unseen());
  statistics_.squared_weights *= (1 - step_size) * (1 - step_size);
  statistics_.count_observation(step_size);
  if (second_ == SecondStatistic::kAtOnce) return;
  // As printed, the counts of this observation enter u_ only with the next.
  sums_->add_counts_of_one(filter.states(), filter.emission(), step_size * filter.filtered(), y,
                           statistics_);
  sums_->finish(filter.emission(), statistics_);
}

}  // namespace headwater
