// A prior of one's own: sources that rest, hum or roar, and move by one level at a time.
// Checks it, simulates from it, and learns it again from the stream.
#include <cmath>
#include <iostream>

#include "headwater/headwater.hpp"

using namespace headwater;

struct ThreeLevels {
  Index components;
  double move = 0.2;  // probability of leaving a level, up or down alike

  std::string name() const { return "three-levels"; }
  Index num_components() const { return components; }

  FiniteChain finite_chain() const {
    FiniteAxis axis;
    axis.states = (Matrix(3, 1) << 0, 1, 3).finished();
    axis.transition.resize(3, 3);
    axis.transition << 1 - move, move, 0,  //
        move / 2, 1 - move, move / 2,      //
        0, move, 1 - move;
    axis.initial = stationary_law(axis.transition);
    return {std::vector<FiniteAxis>(static_cast<std::size_t>(components), axis)};
  }

  Parameters parameters() const { return {scalar_parameter("move", move)}; }
  void set_parameter(const Parameter& p) {
    if (p.name != "move") throw UsageError("three-levels has no parameter " + p.name);
    if (!(p.value(0) > 0 && p.value(0) < 1)) throw UsageError("move must be inside (0, 1)");
    move = p.value(0);
  }
  void maximise(std::span<const double> moves) {  // 9 expected counts for each component
    double left = 0, all = 0;
    for (std::size_t i = 0; i < moves.size(); ++i) {
      all += moves[i];
      if (i % 9 % 4 != 0) left += moves[i];  // off the diagonal
    }
    if (all > 0) move = left / all;
  }
};
static_assert(FinitePrior<ThreeLevels> && LearnablePrior<ThreeLevels>);

int main() {
  for (const std::string& finding : check_prior(AnyPrior(ThreeLevels{2})).findings) {
    std::cerr << finding << '\n';
    return 1;
  }
  const Matrix truth = random_basis(6, 2, 10, 1);
  Simulator simulator(AnyPrior(ThreeLevels{2, 0.1}), truth, 1);
  Session session({}, AnyPrior(ThreeLevels{2, 0.4}));
  for (int t = 0; t < 20000; simulator.next(), session.update(simulator.observation()), ++t) {
  }
  session.finish();
  const Estimate found = session.model().reported;
  const double error = relative_error(in_order_of(found.basis, truth), truth);
  std::cout << found.prior.parameters()[0].value << " for 0.1, error " << error << '\n';
  return error < 0.05 && std::abs(found.prior.parameters()[0].value(0) - 0.1) < 0.02 ? 0 : 1;
}
