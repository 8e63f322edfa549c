// Compiled once whole, and once for each function left out: then it must not compile, and the
// message must name the function.
#include "headwater/models/any_prior.hpp"

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
  FiniteChain finite_chain() const { return {}; }
  Parameters parameters() const { return {}; }
#ifndef WITHOUT_set_parameter
  void set_parameter(const Parameter&) {}
#endif
#ifndef WITHOUT_maximise
  void maximise(std::span<const double>) {}
#endif
};

AnyPrior make_sampled() { return AnyPrior(Sampled{}); }
AnyPrior make_learnable() { return AnyPrior(Learnable{}); }
