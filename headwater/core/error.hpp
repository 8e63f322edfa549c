#pragma once

#include <stdexcept>
#include <string>

namespace headwater {

// Everything that the library throws. The message is one line that says where, what was found and
// what was expected. Numerical trouble in a step is not an error but a field of the report.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What was asked for makes no sense, whatever the data: an unknown name, a value out of range.
class UsageError : public Error {
 public:
  using Error::Error;
};

// The data, or a file, are not what they should be.
class InputError : public Error {
 public:
  using Error::Error;
};

}  // namespace headwater
