#pragma once

#include <concepts>
#include <span>
#include <string>

#include "headwater/evidence.hpp"
#include "headwater/finite_chain.hpp"
#include "headwater/matrix.hpp"
#include "headwater/parameter.hpp"
#include "headwater/prior_arguments.hpp"

// The functions of a prior on the activations. A prior is a plain class that offers as many of
// these as it can; each concept enables more:
//
//   concept            functions                                        enables
//   -----------------  -----------------------------------------------  ---------------------------
//   NamedPrior         name(), num_components()                         error messages, model files
//   SampledPrior       NamedPrior + state_size(), sample_initial(),     simulation, and particle
//                      sample_transition(), activations()               filters
//   TransitionDensity  SampledPrior + log_transition()                  particle smoothers that
//                                                                       sample other ancestors
//   BoundedTransition  TransitionDensity + log_transition_bound()       ... by rejection
//   FinitePrior        NamedPrior + finite_chain()                      all of the above, and the
//                                                                       exact engine
//   LearnablePrior     parameters(), set_parameter(), maximise(), and   learning its own parameters
//                      num_statistics(), add_statistics() unless finite
//   PartlyLearnable    LearnablePrior + maximise(statistics, held)      the best free parameters,
//                                                                       given those that are held
//   ScaledPrior        SampledPrior and PartlyLearnable + scale(),      stable columns although
//                      set_scale()                                      activations are unbounded
//   GuidedPrior        SampledPrior + Guide, guide()                    guided proposals, which use
//                                                                       the next observation
//   AffinePrior        LearnablePrior + moments(),                      the fast engine
//                      add_expected_statistics()
//
// A prior for AnyPrior is a SampledPrior or a FinitePrior, learnable or not. It may also have
// constants() (like parameters(), but never learned), which are stored in model files.
// `check_prior` in conformance.hpp tests that a prior's functions are consistent;
// docs/adding_a_prior.md shows how to write one.

namespace headwater {

template <class P>
concept NamedPrior = std::copyable<P> && requires(const P& prior) {
  { prior.name() } -> std::convertible_to<std::string>;
  { prior.num_components() } -> std::convertible_to<Index>;
};

template <class P>
concept SampledPrior = NamedPrior<P> &&
    requires(const P& prior, const RandomBlock& random, ConstStates previous, States next,
             Eigen::Ref<Matrix> activations) {
  { prior.state_size() } -> std::convertible_to<Index>;
  prior.sample_initial(random, next);
  prior.sample_transition(random, previous, next);
  // Converts states to activations: one row per particle, one column per component.
  prior.activations(previous, activations);
};

// Rows of `previous` and `next` are paired; a single row is paired with every row of the other.
template <class P>
concept TransitionDensity = SampledPrior<P> &&
    requires(const P& prior, ConstStates previous, ConstStates next, Eigen::Ref<Vector> out) {
  // out(i) = log f(next_i | previous_i), the density of the state as it is stored.
  prior.log_transition(previous, next, out);
};

template <class P>
concept BoundedTransition = TransitionDensity<P> &&
    requires(const P& prior, ConstStates next, Eigen::Ref<Vector> out) {
  // out(i) >= log f(next_i | x) for every state x, finite.
  prior.log_transition_bound(next, out);
};

template <class P>
concept FinitePrior = NamedPrior<P> && requires(const P& prior) {
  { prior.finite_chain() } -> std::same_as<FiniteChain>;
};

template <class P>
concept CountsMoves = requires(const P& prior, ConstStates previous, ConstStates next,
                               const Eigen::Ref<const Vector>& weights, std::span<double> s3) {
  { prior.num_statistics() } -> std::convertible_to<Index>;
  // s3 += sum_i weights(i) s3(previous_i, next_i), rows paired as for log_transition.
  prior.add_statistics(previous, next, weights, s3);
};

template <class P>
concept LearnablePrior = (FinitePrior<P> || CountsMoves<P>)&&requires(P& prior, const P& fixed,
                                                                      const Parameter& parameter,
                                                                      std::span<const double> s3) {
  { fixed.parameters() } -> std::same_as<Parameters>;
  // Throws UsageError for an unknown name or a value out of range.
  prior.set_parameter(parameter);
  // The M-step: the parameters that maximise the expected log-density of the transitions, given
  // averaged statistics (known up to a common factor). For a FinitePrior these are the expected
  // transition counts, in the layout of FiniteChain::num_moves; for other priors, the sums of
  // add_statistics().
  prior.maximise(s3);
};

// An M-step that is told which parameters are held: the free ones become the maximisers given the
// held ones. Without this function, the held values are restored after the other maximise(). That
// is equivalent if no parameter's maximiser depends on another parameter.
template <class P>
concept PartlyLearnable = LearnablePrior<P> &&
    requires(P& prior, std::span<const double> s3, const Held& held) {
  prior.maximise(s3, held);
};

// A prior whose activations have an arbitrary scale: those of component k are scale_k times those
// of the unit prior, whose scale is 1. Reports use the unit prior, with the scale in the columns of
// the basis. But the counts determine the product of column and activations well, and each factor
// alone poorly, so with a fixed scale EM learns the columns' scale very slowly. The M-step
// therefore leaves both free (see Scale). maximise(statistics, held) learns the scale unless
// held.scale.
template <class P>
concept ScaledPrior = SampledPrior<P> && PartlyLearnable<P> &&
    requires(P& prior, const P& fixed, const Vector& scale) {
  { fixed.scale() } -> std::convertible_to<Vector>;  // K positive numbers, 1 by default
  // Throws UsageError for a wrong number of values or one that is not positive.
  prior.set_scale(scale);
};

// A prior with guided proposals: particles move given the prior and an observation (see Guide).
// Every FinitePrior has them without further functions.
template <class P>
concept GuidedPrior = SampledPrior<P> && std::derived_from<typename P::Guide, Guide> &&
    std::default_initializable<typename P::Guide> &&
    requires(const P& prior, const Evidence& evidence, ConstStates previous,
             const Eigen::Ref<const Vector>& weights, typename P::Guide& guide) {
  // Makes the guide for an observation, given the particles that are to move and what they weigh;
  // without rows, for the first state. False: there is none this time.
  { prior.guide(evidence, previous, weights, guide) } -> std::same_as<bool>;
};

// A prior with independent components whose conditional mean and variance are affine in the
// previous state.
template <class P>
concept AffinePrior = CountsMoves<P> && LearnablePrior<P> &&
    requires(const P& prior, const ExpectedMoves& moves, std::span<double> s3) {
  { prior.moments() } -> std::same_as<AffineMoments>;
  // s3 += weight times the expectation of what add_statistics() adds for one transition.
  prior.add_expected_statistics(moves, 1.0, s3);
};

namespace detail {

// Reports each missing function in a message of its own; a failed concept would only list
// expressions.
template <class P>
consteval bool explain_missing_functions() {
  static_assert(
      requires(const P& p) { p.name(); }, "the prior lacks a function: std::string name() const");
  static_assert(
      requires(const P& p) { p.num_components(); },
      "the prior lacks a function: Index num_components() const");
  if constexpr (!requires(const P& p) { p.finite_chain(); }) {
    static_assert(
        requires(const P& p, const RandomBlock& r, States s) { p.sample_initial(r, s); },
        "the prior lacks a function: void sample_initial(const RandomBlock& random, States next) "
        "const (or FiniteChain finite_chain() const, if its states are finitely many)");
    static_assert(
        requires(const P& p, const RandomBlock& r, ConstStates c, States s) {
          p.sample_transition(r, c, s);
        },
        "the prior lacks a function: void sample_transition(const RandomBlock& random, "
        "ConstStates previous, States next) const");
    static_assert(
        requires(const P& p) { p.state_size(); },
        "the prior lacks a function: Index state_size() const");
    static_assert(
        requires(const P& p, ConstStates c, Eigen::Ref<Matrix> x) { p.activations(c, x); },
        "the prior lacks a function: void activations(ConstStates states, Eigen::Ref<Matrix> "
        "activations) const");
  }
  constexpr bool kWantsToLearn = requires(const P& p) { p.parameters(); }
  || requires(P & p, const Parameter& q) { p.set_parameter(q); }
  || requires(P & p, std::span<const double> s) { p.maximise(s); };
  if constexpr (kWantsToLearn) {
    static_assert(
        requires(const P& p) { p.parameters(); },
        "the prior lacks a function: Parameters parameters() const");
    static_assert(
        requires(P & p, const Parameter& q) { p.set_parameter(q); },
        "the prior lacks a function: void set_parameter(const Parameter& parameter)");
    static_assert(
        requires(P & p, std::span<const double> s) { p.maximise(s); },
        "the prior lacks a function: void maximise(std::span<const double> statistics)");
    if constexpr (!requires(const P& p) { p.finite_chain(); }) {
      static_assert(
          requires(const P& p) { p.num_statistics(); },
          "the prior lacks a function: Index num_statistics() const");
      static_assert(CountsMoves<P>,
                    "the prior lacks a function: void add_statistics(ConstStates previous, "
                    "ConstStates next, const Eigen::Ref<const Vector>& weights, std::span<double> "
                    "statistics) const");
    }
  }
  if constexpr (requires(P & p, const Vector& s) { p.set_scale(s); }) {
    static_assert(
        requires(const P& p) { p.scale(); }, "the prior lacks a function: Vector scale() const");
    static_assert(
        requires(P & p, std::span<const double> s, const Held& h) { p.maximise(s, h); },
        "the prior lacks a function: void maximise(std::span<const double> statistics, const Held& "
        "held)");
    static_assert(ScaledPrior<P>, "the prior has a scale and is no ScaledPrior");
  }
  if constexpr (requires { typename P::Guide; }) {
    static_assert(
        GuidedPrior<P>,
        "the prior has a Guide and lacks a function: bool guide(const Evidence& evidence, "
        "ConstStates previous, const Eigen::Ref<const Vector>& weights, Guide& guide) "
        "const; or its Guide is no headwater::Guide");
  }
  // A function of the right name may still have the wrong types.
  static_assert(
      FinitePrior<P> || !requires(const P& p) { p.finite_chain(); },
      "the prior's finite_chain() const must return a FiniteChain");
  static_assert(SampledPrior<P> || FinitePrior<P>, "the prior is no SampledPrior or FinitePrior");
  static_assert(LearnablePrior<P> || !kWantsToLearn, "the prior is no LearnablePrior");
  return true;
}

}  // namespace detail

}  // namespace headwater
