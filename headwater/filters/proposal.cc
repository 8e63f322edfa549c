#include "headwater/filters/proposal.hpp"

namespace headwater {

void PriorProposal::draw(const AnyPrior& prior, const RandomBlock& random, ConstStates parents,
                         std::span<const std::int32_t> /*ancestors*/, States next) const {
  if (parents.rows() == 0) {
    prior.sample_initial(random, next);
  } else {
    prior.sample_transition(random, parents, next);
  }
}

}  // namespace headwater
