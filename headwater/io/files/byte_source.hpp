#pragma once

#include <cstddef>
#include <cstdint>
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

  // True if the bytes come from a pipe or a device, and so cannot be read again.
  virtual bool is_pipe() const = 0;

  // True if the bytes may end too early without a sign of it, as those of a pipe do when the
  // program at its other end dies.
  virtual bool can_be_cut_off() const = 0;

  // How often a followed file was replaced by a new one of its name. The bytes that the last read()
  // returned are those of the present one.
  virtual std::int64_t num_replaced() const = 0;
};

// The bytes are damaged. The message does not name the file: the caller adds its name and the line.
class DamagedBytes : public InputError {
 public:
  using InputError::InputError;
};

}  // namespace headwater
