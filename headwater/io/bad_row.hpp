#pragma once

#include "headwater/core/error.hpp"

namespace headwater {

// One row of the data is not what it should be, and the row behind it can still be read.
class BadRow : public InputError {
 public:
  using InputError::InputError;
};

}  // namespace headwater
