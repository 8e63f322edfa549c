// Compiled once as it stands, and once with each function removed. It must then not compile, and
// the error message must name the function.
#include "headwater/any_prior.hpp"

using namespace headwater;

struct Sampled {
#ifndef WITHOUT_name
  std::string name() const { return "sampled"; }
#endif
#ifndef WITHOUT_num_components
  Index num_components() const { return 1; }
#endif
#ifndef WITHOUT_state_size
  Index state_size() const { return 1; }
#endif
#ifndef WITHOUT_sample_initial
  void sample_initial(const RandomBlock&, States next) const { next.setZero(); }
#endif
#ifndef WITHOUT_sample_transition
  void sample_transition(const RandomBlock&, ConstStates previous, States next) const {
    next = previous;
  }
#endif
#ifndef WITHOUT_activations
  void activations(ConstStates states, Eigen::Ref<Matrix> x) const { x = states; }
#endif
};

struct Learnable {
  std::string name() const { return "learnable"; }
  Index num_components() const { return 1; }
#ifdef WITHOUT_finite_chain
  std::vector<FiniteAxis> finite_chain() const { return {}; }  // wrong return type
#else
  FiniteChain finite_chain() const { return {}; }
#endif
#ifndef WITHOUT_parameters
  Parameters parameters() const { return {}; }
#endif
#ifndef WITHOUT_set_parameter
  void set_parameter(const Parameter&) {}
#endif
#ifndef WITHOUT_maximise
  void maximise(std::span<const double>) {}
#endif
};

struct LearnableBySampling : Sampled {
  Parameters parameters() const { return {}; }
  void set_parameter(const Parameter&) {}
  void maximise(std::span<const double>) {}
#ifndef WITHOUT_num_statistics
  Index num_statistics() const { return 0; }
#endif
#ifndef WITHOUT_add_statistics
  void add_statistics(ConstStates, ConstStates, const Eigen::Ref<const Vector>&,
                      std::span<double>) const {}
#endif
};

AnyPrior make_learnable_by_sampling() { return AnyPrior(LearnableBySampling{}); }
AnyPrior make_sampled() { return AnyPrior(Sampled{}); }
AnyPrior make_learnable() { return AnyPrior(Learnable{}); }
