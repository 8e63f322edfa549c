#include "headwater/io/child_process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

extern char** environ;

namespace headwater {
namespace {

struct FileActions {
  FileActions() { posix_spawn_file_actions_init(&actions); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  ~FileActions() { posix_spawn_file_actions_destroy(&actions); }

  posix_spawn_file_actions_t actions;
};

}  // namespace

// posix_spawn() may be called while other threads run, unlike fork().
ChildProcess::ChildProcess(const std::vector<std::string>& words) {
  std::array<int, 2> ends = {};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw_system_error(words[0], "cannot be started");
  output_ = FileDescriptor(ends[0]);
  const FileDescriptor its_output(ends[1]);
  FileActions files;
  posix_spawn_file_actions_addopen(&files.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files.actions, its_output.number(), STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&files.actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const int error =
      posix_spawn(&id_, arguments[0], &files.actions, nullptr, arguments.data(), environ);
  if (error != 0) {
    id_ = -1;
    throw_system_error(words[0], "cannot be started", error);
  }
}

ChildProcess::~ChildProcess() {
  if (id_ < 0) return;
  kill(id_, SIGKILL);
  wait();
}

int ChildProcess::wait() {
  int status = 0;
  while (id_ >= 0 && waitpid(id_, &status, 0) < 0 && errno == EINTR) {
  }
  id_ = -1;
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

}  // namespace headwater
