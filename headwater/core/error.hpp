#pragma once

#include <stdexcept>
#include <string>

namespace headwater {

// The base of all exceptions of the library. The message is one line that says where the error is,
// what was found and what was expected. Numerical trouble in a step is not an exception but a field
// of the report.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The request is invalid whatever the data: an unknown name, a value out of range.
class UsageError : public Error {
 public:
  using Error::Error;
};

// The data or a file are invalid.
class InputError : public Error {
 public:
  using Error::Error;
};

}  // namespace headwater
