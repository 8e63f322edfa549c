#pragma once

#include <cstdint>

#include "headwater/core/matrix.hpp"
#include "headwater/random/stream.hpp"

// The arguments of a prior's functions: blocks of particles, and their random numbers.

namespace headwater {

// The states of a block of particles: one row per particle and one column per element of the state,
// so that loops over particles run through contiguous memory.
using States = Eigen::Ref<Matrix>;
using ConstStates = const Eigen::Ref<const Matrix>&;

// Row i of a block of states, or its only row, which is paired with every row of the other block.
inline auto paired_row(ConstStates states, Index i) {
  return states.row(states.rows() == 1 ? 0 : i);
}

// Random numbers for a block of particles at one time. Every particle has its own generator, so the
// division of particles into blocks changes no bit.
struct RandomBlock {
  const RandomStream& stream;
  std::uint64_t time;
  std::uint32_t first_particle;
  Purpose purpose;

  Generator particle(Index i) const {
    return stream.at(time, first_particle + static_cast<std::uint32_t>(i), purpose);
  }
};

}  // namespace headwater
