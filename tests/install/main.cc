#include <cstdio>
#include <headwater/headwater.hpp>

using namespace headwater;

// Classes of one's own, which the library has never seen.
struct OnOrOff {
  std::string name() const { return "on-or-off"; }
  Index num_components() const { return 2; }
  FiniteChain finite_chain() const {
    FiniteAxis axis;
    axis.states = (Matrix(2, 1) << 0, 1).finished();
    axis.transition = (Matrix(2, 2) << 0.9, 0.1, 0.2, 0.8).finished();
    axis.initial = stationary_law(axis.transition);
    return {{axis, axis}};
  }
};

int main() {
  Simulator simulator(AnyPrior(OnOrOff{}), random_basis(3, 2, 5, 1), 1);
  Config config;
  config.num_components = 2;
  Session session(config);
  for (int t = 0; t < 300; ++t) {
    simulator.next();
    session.update(simulator.observation());
  }
  session.finish();
  write_model(session.model(), "model.h5");
  const Model model = read_model("model.h5");
  ModelFilter filter(model.reported, model.background);
  const FilterStep step = filter.step(Observation(simulator.observation()));
  std::printf("headwater %s: %lld observations, log-probability %g\n", version().c_str(),
              static_cast<long long>(model.observations), step.log_predictive);
  try {
    find_prior("no such prior");
  } catch (const UsageError&) {
    return check_prior(AnyPrior(OnOrOff{})).passed() ? 0 : 1;
  }
  return 1;
}
