#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "headwater/io/files/byte_source.hpp"
#include "headwater/io/files/file_descriptor.hpp"

namespace headwater {

struct WaitingRules {
  // At the end of a regular file, wait for more. A pipe is waited for as long as it is open anyway.
  bool follow = false;
  // Asked again and again while there is nothing to read; true makes that the end.
  std::function<bool()> should_stop = {};
};

// The bytes of a file or pipe, from where it stands.
class FileBytes final : public ByteSource {
 public:
  FileBytes(FileDescriptor file, std::string name, WaitingRules rules = {});

  std::size_t read(std::span<char> space) override;
  std::optional<double> fraction_used(std::size_t unused) const override;
  bool was_stopped() const override { return was_stopped_; }

  bool is_regular() const { return is_regular_; }

 private:
  bool ask_to_stop();
  bool wait_for_pipe();
  bool wait_for_growth();

  FileDescriptor file_;
  std::string name_;
  WaitingRules rules_;
  bool is_regular_ = false;
  bool was_stopped_ = false;
  std::int64_t size_ = 0;    // of a regular file when it was opened
  std::int64_t offset_ = 0;  // how far it has been read
};

}  // namespace headwater
