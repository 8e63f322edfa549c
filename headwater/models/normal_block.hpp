#pragma once

#include "headwater/models/random_block.hpp"

namespace headwater {

// Normal numbers of mean 0 and variance 1, one row a particle; at least so many columns. In a
// thread's own matrix, kept so that a stream in its steady state allocates nothing, and valid until
// the thread asks again.
Eigen::Block<Matrix> normal_block(const RandomBlock& random, Index num_rows, Index num_columns);

}  // namespace headwater
