#pragma once

#include <stdexcept>
#include <string>

#include "headwater/export.hpp"

namespace headwater {

// The base of all exceptions of the library. The message is one line that says where the error is,
// what was found and what was expected. Numerical trouble in a step is not an exception but a field
// of the report.
class HEADWATER_EXPORT Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The request is invalid whatever the data: an unknown name, a value out of range.
class HEADWATER_EXPORT UsageError : public Error {
 public:
  using Error::Error;
};

// The data or a file are invalid.
class HEADWATER_EXPORT InputError : public Error {
 public:
  using Error::Error;
};

// One row of the data is invalid, but the reader can continue with the next row.
class HEADWATER_EXPORT BadRow : public InputError {
 public:
  using InputError::InputError;
};

}  // namespace headwater
