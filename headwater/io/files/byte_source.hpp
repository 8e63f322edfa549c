#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "headwater/core/error.hpp"

namespace headwater {

// Bytes one after another: of a file, a pipe, or what a compressed file holds.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Fills the space, or a part of it, as soon as there is anything; 0 at the end.
  virtual std::size_t read(std::span<char> space) = 0;

  // How much of the file has been used, when of the bytes that were read the last `unused` ones
  // have not been; nothing where there is no knowing.
  virtual std::optional<double> fraction_used(std::size_t unused) const = 0;

  // True when the end is not that of the data, but somebody asked to stop: what was read may then
  // end in the middle of a line.
  virtual bool was_stopped() const = 0;
};

// The bytes are damaged. The message names no file: whoever reads on knows the line too.
class DamagedBytes : public InputError {
 public:
  using InputError::InputError;
};

}  // namespace headwater
