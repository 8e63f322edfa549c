#pragma once

#include <cstdint>

#include "headwater/core/matrix.hpp"
#include "headwater/random/stream.hpp"

// What a prior is asked for: blocks of particles, and their random numbers.

namespace headwater {

// The states of a block of particles: one row a particle, one column a number of the state, so
// that loops run along particles in contiguous memory.
using States = Eigen::Ref<Matrix>;
using ConstStates = const Eigen::Ref<const Matrix>&;

// Row i of a block of states, or its only row, which is paired with every row of another block.
inline auto paired_row(ConstStates states, Index i) {
  return states.row(states.rows() == 1 ? 0 : i);
}

// Random numbers for a block of particles at one time: each particle has a generator of its own,
// so that how particles are cut into blocks changes no bit.
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
