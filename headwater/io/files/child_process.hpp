#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "headwater/io/files/file_descriptor.hpp"

namespace headwater {

// Runs another program and reads its standard output. The program's standard input is empty and its
// standard error is discarded. SIGINT and SIGTERM, which terminals and service managers send to a
// whole process group, do not reach it. The destructor kills the program if it is still running.
class ChildProcess {
 public:
  // `words` are the program's path and its arguments. Throws InputError.
  explicit ChildProcess(const std::vector<std::string>& words);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();

  FileDescriptor take_output() { return std::move(output_); }

  struct End {
    int signal = 0;  // the signal that ended it; 0 if none did
    int code = 0;    // the exit code
  };
  End wait();

 private:
  FileDescriptor output_;
  pid_t id_ = -1;  // -1 after it has been waited for
  End end_;
};

}  // namespace headwater
