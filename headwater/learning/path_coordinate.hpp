#pragma once

#include "headwater/learning/log_moves.hpp"

namespace headwater {

// Where a path of activations is found: in z = u = log x for normal moves. Else in z, the cube root
// of x, which is more nearly normal for gamma laws and Poisson counts: of a gamma density, the
// third derivative is zero at the mode.
//
// The log-density of z, with its derivatives in z.
LogStateTerms first_in_coordinate(const LogMoves& moves, Index k, double z);
LogMoveTerms move_in_coordinate(const LogMoves& moves, Index k, double before, double after);

}  // namespace headwater
