// The main task in ten lines: reads a stream of counts and prints its sources. With a file name as
// argument it reads that file (CSV, TSV or NPY; "-" for standard input); without one, it simulates
// a stream.
#include <iostream>

#include "headwater/headwater.hpp"

int main(int argc, char** argv) try {
  using namespace headwater;
  Config config;
  config.num_components = 3;
  config.prior.name = "basis-selection";
  Session session(config);

  if (argc > 1) {
    std::vector<double> y;
    for (auto source = open_source(argv[1]); source->next(y);) session.update(y);
  } else {
    Simulator simulator(make_prior(3, {.name = "basis-selection"}), random_basis(6, 3, 10, 1), 1);
    for (int t = 0; t < 5000; ++t) {
      simulator.next();
      session.update(simulator.observation());
    }
  }
  session.finish();
  std::cout << session.model().reported.basis << '\n';
} catch (const headwater::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
