#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <functional>
#include <string>

#include "headwater/io/files/byte_source.hpp"
#include "headwater/io/files/file_descriptor.hpp"

namespace headwater {

struct WaitingRules {
  // At the end of a regular file, wait for more bytes. Reads from a pipe always wait until it is
  // closed.
  bool follow = false;
  // If a file that is followed has been read to its end, and another file has taken this name,
  // reading goes on with that file, as by `tail -F`. If empty, the name is not looked at.
  std::string path = {};
  // Called repeatedly while there is nothing to read. If it returns true, reading ends.
  std::function<bool()> should_stop = {};
};

// The bytes of a file or pipe, beginning at its current position.
class FileBytes final : public ByteSource {
 public:
  FileBytes(FileDescriptor file, std::string name, WaitingRules rules = {});

  std::size_t read(std::span<char> space) override;
  std::optional<double> fraction_used(std::size_t unused) const override;
  bool was_stopped() const override { return was_stopped_; }
  bool is_pipe() const override { return !is_regular_; }
  bool can_be_cut_off() const override { return !is_regular_; }
  std::int64_t num_replaced() const override { return num_replaced_; }

  bool is_regular() const { return is_regular_; }

 private:
  bool ask_to_stop();
  bool wait_for_pipe();
  bool wait_for_growth();
  bool open_replacement(const struct stat& present);

  FileDescriptor file_;
  std::string name_;
  WaitingRules rules_;
  bool is_regular_ = false;
  bool was_stopped_ = false;
  std::int64_t num_replaced_ = 0;
  std::int64_t size_ = 0;    // size of a regular file when it was opened
  std::int64_t offset_ = 0;  // bytes read so far
};

}  // namespace headwater
