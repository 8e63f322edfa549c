// Compiled once as it stands, and once with each function removed. It must then not compile, and
// the error message must name the function.
#include "headwater/any_law.hpp"

using namespace headwater;

struct Plain {
#ifndef WITHOUT_name
  std::string name() const { return "plain"; }
#endif
#ifndef WITHOUT_log_density
  double log_density(Index, double, double) const { return 0; }
#endif
#ifndef WITHOUT_gain
  double gain(Index, double, double) const { return 0; }
#endif
#ifndef WITHOUT_loss
  double loss(Index, double, double) const { return 0; }
#endif
#ifndef WITHOUT_information
  double information(Index, double) const { return 0; }
#endif
#ifndef WITHOUT_variance
  VarianceFunction variance(Index) const { return {}; }
#endif
#ifndef WITHOUT_draw
  double draw(Index, double, Generator&) const { return 0; }
#endif
};

struct Learnable : Plain {
#ifndef WITHOUT_parameters
  Parameters parameters() const { return {}; }
#endif
#ifndef WITHOUT_set_parameter
  void set_parameter(const Parameter&) {}
#endif
#ifndef WITHOUT_num_statistics
  Index num_statistics(Index) const { return 0; }
#endif
#ifndef WITHOUT_add_statistics
  void add_statistics(Index, double, double, double, std::span<double>) const {}
#endif
#ifndef WITHOUT_maximise
  void maximise(std::span<const double>, double, const Held&) {}
#endif
};

struct Blocked : Plain {
#ifdef WITHOUT_in_blocks
  BlockLaw* in_blocks() const { return nullptr; }  // wrong return type
#else
  std::unique_ptr<BlockLaw> in_blocks() const { return nullptr; }
#endif
};

AnyLaw plain() { return Plain(); }
AnyLaw learnable() { return Learnable(); }
AnyLaw blocked() { return Blocked(); }

// What is no law at all is not taken for one.
static_assert(!std::is_convertible_v<Matrix, AnyLaw> && !std::is_convertible_v<double, AnyLaw>);
