#pragma once

#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "headwater/concepts.hpp"
#include "headwater/export.hpp"
#include "headwater/state_archive.hpp"

namespace headwater {

// Any prior, as a value (type erasure). Engines and learners are compiled once, against this class.
// Every call handles a block of particles, so the cost of a virtual call is negligible.
class HEADWATER_EXPORT AnyPrior {
 public:
  template <class P>
  requires(!std::same_as<std::remove_cvref_t<P>, AnyPrior>) explicit AnyPrior(P prior)
      : model_(std::make_unique<Model<P>>(std::move(prior))) {
    static_assert(detail::explain_missing_functions<P>());
  }
  AnyPrior(const AnyPrior& other) : model_(other.model_->clone()) {}
  AnyPrior(AnyPrior&&) noexcept = default;
  AnyPrior& operator=(const AnyPrior& other) {
    if (this != &other) model_ = other.model_->clone();
    return *this;
  }
  AnyPrior& operator=(AnyPrior&&) noexcept = default;
  ~AnyPrior() = default;

  std::string name() const { return model_->name(); }
  Index num_components() const { return model_->num_components(); }

  bool is_finite() const { return model_->is_finite(); }
  const FiniteChain& finite_chain() const { return model_->finite_chain(); }  // needs is_finite()

  Index state_size() const { return model_->state_size(); }
  void sample_initial(const RandomBlock& random, States next) const {
    model_->sample_initial(random, next);
  }
  void sample_transition(const RandomBlock& random, ConstStates previous, States next) const {
    model_->sample_transition(random, previous, next);
  }
  void activations(ConstStates states, Eigen::Ref<Matrix> x) const {
    model_->activations(states, x);
  }

  // Rows of `previous` and `next` are paired; a single row is paired with every row of the other.
  bool has_density() const { return model_->has_density(); }
  void log_transition(ConstStates previous, ConstStates next, Eigen::Ref<Vector> out) const {
    model_->log_transition(previous, next, out);
  }
  bool has_bound() const { return model_->has_bound(); }
  void log_transition_bound(ConstStates next, Eigen::Ref<Vector> out) const {
    model_->log_transition_bound(next, out);
  }

  // Guided proposals, which use the prior and an observation: see GuidedPrior. A guide can only be
  // used with priors of the class that made it.
  bool is_guided() const { return model_->is_guided(); }
  std::unique_ptr<Guide> make_guide() const { return model_->make_guide(); }  // needs is_guided()
  bool guide(const Evidence& evidence, ConstStates previous,
             const Eigen::Ref<const Vector>& weights, Guide& guide) const {
    return model_->guide(evidence, previous, weights, guide);
  }

  // Values given at construction that are never learned; empty if the prior does not report them.
  Parameters constants() const { return model_->constants(); }

  bool is_learnable() const { return model_->is_learnable(); }
  Parameters parameters() const { return model_->parameters(); }  // none if not learnable
  void set_parameter(const Parameter& parameter) { model_->set_parameter(parameter); }
  Index num_statistics() const { return model_->num_statistics(); }
  void add_statistics(ConstStates previous, ConstStates next,
                      const Eigen::Ref<const Vector>& weights, std::span<double> out) const {
    model_->add_statistics(previous, next, weights, out);
  }
  void maximise(std::span<const double> statistics) { model_->maximise(statistics, {}); }
  // Held parameters do not change.
  void maximise(std::span<const double> statistics, const Held& held) {
    model_->maximise(statistics, held);
  }

  bool has_scale() const { return model_->has_scale(); }
  Vector scale() const { return model_->scale(); }  // ones without a scale
  void set_scale(const Vector& scale) { model_->set_scale(scale); }

  // Saves or restores what is learned: parameters and scale. Restoring calls set_parameter() and
  // set_scale().
  void exchange(StateArchive& archive);

  bool is_affine() const { return model_->is_affine(); }
  AffineMoments moments() const { return model_->moments(); }  // needs is_affine(), as does:
  void add_expected_statistics(const ExpectedMoves& moves, double weight,
                               std::span<double> out) const {
    model_->add_expected_statistics(moves, weight, out);
  }

 private:
  struct Interface {
    virtual ~Interface() = default;
    virtual std::unique_ptr<Interface> clone() const = 0;
    virtual std::string name() const = 0;
    virtual Index num_components() const = 0;
    virtual bool is_finite() const = 0;
    virtual const FiniteChain& finite_chain() const = 0;
    virtual Index state_size() const = 0;
    virtual void sample_initial(const RandomBlock& random, States next) const = 0;
    virtual void sample_transition(const RandomBlock& random, ConstStates previous,
                                   States next) const = 0;
    virtual void activations(ConstStates states, Eigen::Ref<Matrix> x) const = 0;
    virtual bool has_density() const = 0;
    virtual void log_transition(ConstStates previous, ConstStates next,
                                Eigen::Ref<Vector> out) const = 0;
    virtual bool has_bound() const = 0;
    virtual void log_transition_bound(ConstStates next, Eigen::Ref<Vector> out) const = 0;
    virtual bool is_guided() const = 0;
    virtual std::unique_ptr<Guide> make_guide() const = 0;
    virtual bool guide(const Evidence& evidence, ConstStates previous,
                       const Eigen::Ref<const Vector>& weights, Guide& guide) const = 0;
    virtual Parameters constants() const = 0;
    virtual bool is_learnable() const = 0;
    virtual Parameters parameters() const = 0;
    virtual void set_parameter(const Parameter& parameter) = 0;
    virtual Index num_statistics() const = 0;
    virtual void add_statistics(ConstStates previous, ConstStates next,
                                const Eigen::Ref<const Vector>& weights,
                                std::span<double> out) const = 0;
    virtual void maximise(std::span<const double> statistics, const Held& held) = 0;
    virtual bool has_scale() const = 0;
    virtual Vector scale() const = 0;
    virtual void set_scale(const Vector& scale) = 0;
    virtual bool is_affine() const = 0;
    virtual AffineMoments moments() const = 0;
    virtual void add_expected_statistics(const ExpectedMoves& moves, double weight,
                                         std::span<double> out) const = 0;
  };

  template <class P>
  struct Model;

  std::unique_ptr<Interface> model_;
};

namespace detail {

// Functions that need only a finite chain: a state is the index on each axis.
HEADWATER_EXPORT Index finite_state_size(const FiniteChain& chain);
HEADWATER_EXPORT void sample_finite_initial(const FiniteChain& chain, const RandomBlock& random,
                                            States next);
HEADWATER_EXPORT void sample_finite_transition(const FiniteChain& chain, const RandomBlock& random,
                                               ConstStates previous, States next);
HEADWATER_EXPORT void finite_activations(const FiniteChain& chain, ConstStates states,
                                         Eigen::Ref<Matrix> x);
HEADWATER_EXPORT void finite_log_transition(const FiniteChain& chain, ConstStates previous,
                                            ConstStates next, Eigen::Ref<Vector> out);
HEADWATER_EXPORT void finite_log_transition_bound(const FiniteChain& chain, ConstStates next,
                                                  Eigen::Ref<Vector> out);
HEADWATER_EXPORT void add_finite_moves(const FiniteChain& chain, ConstStates previous,
                                       ConstStates next, const Eigen::Ref<const Vector>& weights,
                                       std::span<double> out);

HEADWATER_EXPORT std::unique_ptr<Guide> make_finite_guide();
HEADWATER_EXPORT bool guide_finite(const FiniteChain& chain, const Evidence& evidence,
                                   ConstStates previous, const Eigen::Ref<const Vector>& weights,
                                   Guide& guide);

[[noreturn]] HEADWATER_EXPORT void throw_not_guided(const std::string& prior);
[[noreturn]] HEADWATER_EXPORT void throw_not_finite(const std::string& prior);
[[noreturn]] HEADWATER_EXPORT void throw_no_density(const std::string& prior);
[[noreturn]] HEADWATER_EXPORT void throw_not_learnable(const std::string& prior);
[[noreturn]] HEADWATER_EXPORT void throw_no_scale(const std::string& prior);
[[noreturn]] HEADWATER_EXPORT void throw_not_affine(const std::string& prior);

}  // namespace detail

template <class P>
struct AnyPrior::Model final : AnyPrior::Interface {
  explicit Model(P wrapped) : prior(std::move(wrapped)) { keep_chain(); }

  std::unique_ptr<Interface> clone() const override { return std::make_unique<Model>(prior); }
  std::string name() const override { return std::string(prior.name()); }
  Index num_components() const override { return prior.num_components(); }

  bool is_finite() const override { return FinitePrior<P>; }
  const FiniteChain& finite_chain() const override {
    if constexpr (FinitePrior<P>) {
      return chain;
    } else {
      detail::throw_not_finite(name());
    }
  }
  // The chain follows from the parameters, and is asked for at every step.
  void keep_chain() {
    if constexpr (FinitePrior<P>) chain = prior.finite_chain();
  }

  Index state_size() const override {
    if constexpr (SampledPrior<P>) {
      return prior.state_size();
    } else {
      return detail::finite_state_size(finite_chain());
    }
  }
  void sample_initial(const RandomBlock& random, States next) const override {
    if constexpr (SampledPrior<P>) {
      prior.sample_initial(random, next);
    } else {
      detail::sample_finite_initial(finite_chain(), random, next);
    }
  }
  void sample_transition(const RandomBlock& random, ConstStates previous,
                         States next) const override {
    if constexpr (SampledPrior<P>) {
      prior.sample_transition(random, previous, next);
    } else {
      detail::sample_finite_transition(finite_chain(), random, previous, next);
    }
  }
  void activations(ConstStates states, Eigen::Ref<Matrix> x) const override {
    if constexpr (SampledPrior<P>) {
      prior.activations(states, x);
    } else {
      detail::finite_activations(finite_chain(), states, x);
    }
  }

  // Whether the state is the index on each axis of the prior's finite chain.
  static constexpr bool kFiniteStates = FinitePrior<P> && !SampledPrior<P>;

  bool has_density() const override { return TransitionDensity<P> || kFiniteStates; }
  void log_transition(ConstStates previous, ConstStates next,
                      Eigen::Ref<Vector> out) const override {
    if constexpr (TransitionDensity<P>) {
      prior.log_transition(previous, next, out);
    } else if constexpr (kFiniteStates) {
      detail::finite_log_transition(finite_chain(), previous, next, out);
    } else {
      detail::throw_no_density(name());
    }
  }
  bool has_bound() const override { return BoundedTransition<P> || kFiniteStates; }
  void log_transition_bound(ConstStates next, Eigen::Ref<Vector> out) const override {
    if constexpr (BoundedTransition<P>) {
      prior.log_transition_bound(next, out);
    } else if constexpr (kFiniteStates) {
      detail::finite_log_transition_bound(finite_chain(), next, out);
    } else {
      detail::throw_no_density(name());
    }
  }

  bool is_guided() const override { return GuidedPrior<P> || kFiniteStates; }
  std::unique_ptr<Guide> make_guide() const override {
    if constexpr (GuidedPrior<P>) {
      return std::make_unique<typename P::Guide>();
    } else if constexpr (kFiniteStates) {
      return detail::make_finite_guide();
    } else {
      detail::throw_not_guided(name());
    }
  }
  bool guide(const Evidence& evidence, ConstStates previous,
             const Eigen::Ref<const Vector>& weights, Guide& guide) const override {
    if constexpr (GuidedPrior<P>) {
      return prior.guide(evidence, previous, weights, static_cast<typename P::Guide&>(guide));
    } else if constexpr (kFiniteStates) {
      return detail::guide_finite(finite_chain(), evidence, previous, weights, guide);
    } else {
      detail::throw_not_guided(name());
    }
  }

  Parameters constants() const override {
    if constexpr (requires { prior.constants(); }) {
      return prior.constants();
    } else {
      return {};
    }
  }

  bool is_learnable() const override { return LearnablePrior<P>; }
  Parameters parameters() const override {
    if constexpr (LearnablePrior<P>) {
      return prior.parameters();
    } else {
      return {};
    }
  }
  void set_parameter(const Parameter& parameter) override {
    if constexpr (LearnablePrior<P>) {
      prior.set_parameter(parameter);
      keep_chain();
    } else {
      detail::throw_not_learnable(name());
    }
  }
  Index num_statistics() const override {
    if constexpr (CountsMoves<P>) {
      return prior.num_statistics();
    } else if constexpr (FinitePrior<P>) {
      return finite_chain().num_moves();
    } else {
      return 0;
    }
  }
  void add_statistics(ConstStates previous, ConstStates next,
                      const Eigen::Ref<const Vector>& weights,
                      std::span<double> out) const override {
    if constexpr (CountsMoves<P>) {
      prior.add_statistics(previous, next, weights, out);
    } else if constexpr (kFiniteStates) {
      detail::add_finite_moves(finite_chain(), previous, next, weights, out);
    } else {
      detail::throw_not_learnable(name());
    }
  }
  void maximise(std::span<const double> statistics, const Held& held) override {
    if constexpr (PartlyLearnable<P>) {
      prior.maximise(statistics, held);
    } else if constexpr (LearnablePrior<P>) {
      const Parameters before = prior.parameters();
      prior.maximise(statistics);
      for (const Parameter& parameter : before) {
        if (held.holds(parameter.name)) prior.set_parameter(parameter);
      }
    } else {
      detail::throw_not_learnable(name());
    }
    keep_chain();
  }

  bool has_scale() const override { return ScaledPrior<P>; }
  Vector scale() const override {
    if constexpr (ScaledPrior<P>) {
      return prior.scale();
    } else {
      return Vector::Ones(num_components());
    }
  }
  void set_scale(const Vector& scale) override {
    if constexpr (ScaledPrior<P>) {
      prior.set_scale(scale);
    } else {
      detail::throw_no_scale(name());
    }
  }

  bool is_affine() const override { return AffinePrior<P>; }
  AffineMoments moments() const override {
    if constexpr (AffinePrior<P>) {
      return prior.moments();
    } else {
      detail::throw_not_affine(name());
    }
  }
  void add_expected_statistics(const ExpectedMoves& moves, double weight,
                               std::span<double> out) const override {
    if constexpr (AffinePrior<P>) {
      prior.add_expected_statistics(moves, weight, out);
    } else {
      detail::throw_not_affine(name());
    }
  }

  P prior;
  FiniteChain chain;  // of a finite prior
};

}  // namespace headwater
