#include "headwater/any_prior.hpp"

#include <fmt/format.h>

#include <vector>

#include "headwater/error.hpp"
#include "headwater/models/guides/finite_guide.hpp"
#include "headwater/random.hpp"

namespace headwater {

void AnyPrior::exchange(StateArchive& archive) {
  for (Parameter parameter : parameters()) {
    archive(parameter.value);
    if (archive.is_reading()) set_parameter(parameter);
  }
  if (!has_scale()) return;
  Vector scale = model_->scale();
  archive(scale);
  if (archive.is_reading()) set_scale(scale);
}

}  // namespace headwater

namespace headwater::detail {

Index finite_state_size(const FiniteChain& chain) { return static_cast<Index>(chain.axes.size()); }

namespace {

std::size_t draw(Generator& generator, const Vector& law) {
  return categorical(generator, {law.data(), static_cast<std::size_t>(law.size())});
}

}  // namespace

void sample_finite_initial(const FiniteChain& chain, const RandomBlock& random, States next) {
  for (Index i = 0; i < next.rows(); ++i) {
    Generator generator = random.particle(i);
    for (std::size_t k = 0; k < chain.axes.size(); ++k) {
      next(i, static_cast<Index>(k)) = static_cast<double>(draw(generator, chain.axes[k].initial));
    }
  }
}

void sample_finite_transition(const FiniteChain& chain, const RandomBlock& random,
                              ConstStates previous, States next) {
  // Column i: the transition probabilities from state i, contiguous.
  thread_local std::vector<Matrix> laws;
  laws.resize(chain.axes.size());
  for (std::size_t k = 0; k < laws.size(); ++k) laws[k] = chain.axes[k].transition.transpose();
  for (Index i = 0; i < next.rows(); ++i) {
    Generator generator = random.particle(i);
    for (std::size_t k = 0; k < laws.size(); ++k) {
      const auto axis = static_cast<Index>(k);
      const auto from = static_cast<Index>(previous(i, axis));
      const std::span<const double> law(laws[k].col(from).data(),
                                        static_cast<std::size_t>(laws[k].rows()));
      next(i, axis) = static_cast<double>(categorical(generator, law));
    }
  }
}

void finite_activations(const FiniteChain& chain, ConstStates states, Eigen::Ref<Matrix> x) {
  Index first = 0;
  for (std::size_t k = 0; k < chain.axes.size(); ++k) {
    const FiniteAxis& axis = chain.axes[k];
    for (Index i = 0; i < states.rows(); ++i) {
      const auto state = static_cast<Index>(states(i, static_cast<Index>(k)));
      x.row(i).segment(first, axis.states.cols()) = axis.states.row(state);
    }
    first += axis.states.cols();
  }
}

namespace {

// The state on one axis of row i, or of the only row.
Index state_on_axis(ConstStates states, Index i, std::size_t axis) {
  return static_cast<Index>(paired_row(states, i)[static_cast<Index>(axis)]);
}

}  // namespace

void finite_log_transition(const FiniteChain& chain, ConstStates previous, ConstStates next,
                           Eigen::Ref<Vector> out) {
  out.setZero();
  for (std::size_t k = 0; k < chain.axes.size(); ++k) {
    const Matrix log_transition = chain.axes[k].transition.array().log();
    for (Index i = 0; i < out.size(); ++i) {
      out[i] += log_transition(state_on_axis(previous, i, k), state_on_axis(next, i, k));
    }
  }
}

void finite_log_transition_bound(const FiniteChain& chain, ConstStates next,
                                 Eigen::Ref<Vector> out) {
  out.setZero();
  for (std::size_t k = 0; k < chain.axes.size(); ++k) {
    const Vector largest = chain.axes[k].transition.colwise().maxCoeff().array().log();
    for (Index i = 0; i < out.size(); ++i) out[i] += largest[state_on_axis(next, i, k)];
  }
}

void add_finite_moves(const FiniteChain& chain, ConstStates previous, ConstStates next,
                      const Eigen::Ref<const Vector>& weights, std::span<double> out) {
  Index first = 0;
  for (std::size_t k = 0; k < chain.axes.size(); ++k) {
    const Index size = chain.axes[k].size();
    for (Index i = 0; i < weights.size(); ++i) {
      out[first + state_on_axis(previous, i, k) * size + state_on_axis(next, i, k)] += weights[i];
    }
    first += size * size;
  }
}

std::unique_ptr<Guide> make_finite_guide() { return std::make_unique<FiniteGuide>(); }

bool guide_finite(const FiniteChain& chain, const Evidence& evidence, ConstStates previous,
                  const Eigen::Ref<const Vector>& weights, Guide& guide) {
  return static_cast<FiniteGuide&>(guide).look_at(chain, evidence, previous, weights);
}

void throw_no_density(const std::string& prior) {
  throw UsageError(fmt::format("prior '{}' has no transition density", prior));
}

void throw_not_guided(const std::string& prior) {
  throw UsageError(
      fmt::format("prior '{}' does not support proposal 'guided'; use proposal 'prior'", prior));
}

void throw_not_finite(const std::string& prior) {
  throw UsageError(fmt::format("prior '{}' has no finite state space", prior));
}

void throw_not_learnable(const std::string& prior) {
  throw UsageError(fmt::format("prior '{}' has no parameters to set or learn", prior));
}

void throw_no_scale(const std::string& prior) {
  throw UsageError(fmt::format("prior '{}' has no scale to set", prior));
}

void throw_not_affine(const std::string& prior) {
  throw UsageError(fmt::format("prior '{}' has no affine moments", prior));
}

}  // namespace headwater::detail
