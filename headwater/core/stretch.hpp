#pragma once

#include <cstddef>

namespace headwater {

// Neighbours in a list: list[first], ..., list[first + size - 1].
struct Stretch {
  std::size_t first = 0;
  std::size_t size = 0;
};

}  // namespace headwater
