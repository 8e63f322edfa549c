#include "headwater/prior_arguments.hpp"

namespace headwater {

void ColumnwiseGuide::draw_near(const RandomBlock& random, ConstStates previous, double step,
                                ConstStates states, States next) const {
  draw(random, previous, next);
  RandomBlock choices = random;
  choices.purpose = Purpose::kept_columns;
  for (Index i = 0; i < next.rows(); ++i) {
    Generator generator = choices.particle(i);
    for (Index k = 0; k < next.cols(); ++k) {
      if (!(generator.uniform() < step)) next(i, k) = states(i, k);
    }
  }
}

}  // namespace headwater
