#pragma once

#include "headwater/prior_arguments.hpp"

namespace headwater {

// Standard normal numbers, one row per particle and at least `num_columns` columns. They are stored
// in a thread-local matrix and are valid until the thread's next call, so that a step allocates
// nothing once the matrix is large enough.
Eigen::Block<Matrix> normal_block(const RandomBlock& random, Index num_rows, Index num_columns);

}  // namespace headwater
