#pragma once

#include "headwater/core/error.hpp"

namespace headwater {

// One row of the data is invalid, but the reader can continue with the next row.
class BadRow : public InputError {
 public:
  using InputError::InputError;
};

}  // namespace headwater
