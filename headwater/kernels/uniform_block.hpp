#pragma once

#include <cstdint>

#include "headwater/matrix.hpp"
#include "headwater/random.hpp"

namespace headwater {

// Uniform numbers for consecutive particles: row i of `out` contains the first out.cols() numbers
// of
//   stream.at(time, first_particle + i, purpose).uniform(),
// bit for bit, on every instruction set.
void uniform_block(const RandomStream& stream, std::uint64_t time, std::uint32_t first_particle,
                   Purpose purpose, Eigen::Ref<Matrix> out);

}  // namespace headwater
