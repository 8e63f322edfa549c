#include "headwater/kernels/uniform_block.hpp"

#include <gtest/gtest.h>

#include "headwater/kernels/test_support.hpp"

namespace headwater {
namespace {

// Fills a block within a larger matrix, whose other elements must not change.
void expect_what_generators_give(std::uint64_t seed, std::uint64_t time, std::uint32_t first,
                                 Purpose purpose, Index rows, Index columns, Index shift) {
  const RandomStream stream(seed);
  Matrix out = Matrix::Constant(rows + 2, columns + 1, -7);
  uniform_block(stream, time, first, purpose, out.block(shift, 0, rows, columns));
  for (Index i = 0; i < rows; ++i) {
    Generator generator = stream.at(time, first + static_cast<std::uint32_t>(i), purpose);
    for (Index j = 0; j < columns; ++j) ASSERT_EQ(out(shift + i, j), generator.uniform());
  }
  out.block(shift, 0, rows, columns).setConstant(-7);
  EXPECT_TRUE((out.array() == -7).all());
}

TEST(UniformBlock, GivesTheBitsOfGenerators) {
  under_each_instruction_set([] {
    for (const std::size_t length : lengths_to_try()) {
      for (const Index shift : {0, 1}) {
        for (const Index columns : {1, 2, 5}) {
          expect_what_generators_give(99, 7, 512, Purpose::particle_moves,
                                      static_cast<Index>(length), columns, shift);
        }
      }
    }
  });
}

TEST(UniformBlock, AtTheEndsOfAddresses) {
  under_each_instruction_set([] {
    const std::uint64_t last_time = (std::uint64_t{1} << 48) - 1;
    const Purpose purpose = Purpose::initial_state;
    expect_what_generators_give(~std::uint64_t{0}, last_time, 0, purpose, 40, 3, 0);
    expect_what_generators_give(0, 0, 0, purpose, 40, 40, 0);
    // Particle numbers wrap around at 2^32.
    expect_what_generators_give(1, 2, 0xFFFFFFF0, purpose, 40, 2, 0);
    expect_what_generators_give(1, 2, 3, purpose, 40, 0, 0);
  });
}

}  // namespace
}  // namespace headwater
