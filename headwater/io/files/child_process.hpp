#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "headwater/io/files/file_descriptor.hpp"

namespace headwater {

// Another program that is run to hear what it writes to its standard output. It has nothing on its
// standard input, its error messages are dropped, and SIGINT and SIGTERM, which terminals and
// service managers send to everybody, do not reach it. Killed, if it still runs, when this goes.
class ChildProcess {
 public:
  // The program's path and its arguments. Throws InputError.
  explicit ChildProcess(const std::vector<std::string>& words);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();

  FileDescriptor take_output() { return std::move(output_); }

  struct End {
    int signal = 0;  // that ended it, or 0
    int code = 0;    // its exit code
  };
  End wait();

 private:
  FileDescriptor output_;
  pid_t id_ = -1;  // none when it has been waited for
  End end_;
};

}  // namespace headwater
