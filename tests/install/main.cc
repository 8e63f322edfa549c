#include <cstdio>
#include <headwater/headwater.hpp>

int main() {
  using namespace headwater;
  Simulator simulator(AnyPrior(BasisSelection(2, 0.9, 0.8)), random_basis(3, 2, 5, 1), 1);
  Config config;
  config.num_components = 2;
  Session session(config);
  for (int t = 0; t < 300; ++t) {
    simulator.next();
    session.update(simulator.observation());
  }
  session.finish();
  write_model(session.model(), "model.h5");
  std::printf("headwater %s: %lld observations\n", version().c_str(),
              static_cast<long long>(read_model("model.h5").observations));
  return 0;
}
