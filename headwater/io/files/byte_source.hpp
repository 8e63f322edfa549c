#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "headwater/error.hpp"

namespace headwater {

// A stream of bytes: from a file, a pipe, or a decompressor.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Reads at least one byte, and at most as many as fit into `space`, waiting if there is none yet.
  // Returns the number of bytes, or 0 at the end.
  virtual std::size_t read(std::span<char> space) = 0;

  // The fraction of the file that has been consumed, if the caller has not used the last `unused`
  // bytes that it read. Nothing if the size is unknown.
  virtual std::optional<double> fraction_used(std::size_t unused) const = 0;

  // True if reading ended because a stop was requested, and not at the end of the data. The bytes
  // may then end in the middle of a line.
  virtual bool was_stopped() const = 0;
};

// The bytes are damaged. The message does not name the file: the caller adds its name and the line.
class DamagedBytes : public InputError {
 public:
  using InputError::InputError;
};

}  // namespace headwater
