#include "headwater/io/files/child_process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

namespace headwater {
namespace {

// The settings of posix_spawn(). Its functions return an error code instead of setting errno.
class Preparations {
 public:
  explicit Preparations(std::string program) : program_(std::move(program)) {
    check(posix_spawn_file_actions_init(&files));
    check(posix_spawnattr_init(&attributes));
  }
  Preparations(const Preparations&) = delete;
  Preparations& operator=(const Preparations&) = delete;
  ~Preparations() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }

  void check(int error) const {
    if (error != 0) throw_system_error(program_, "cannot be started", error);
  }

  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;

 private:
  std::string program_;
};

}  // namespace

// posix_spawn() is safe while other threads run; fork() is not.
ChildProcess::ChildProcess(const std::vector<std::string>& words) {
  std::array<int, 2> ends = {};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw_system_error(words[0], "cannot be started");
  output_ = FileDescriptor(ends[0]);
  const FileDescriptor its_output(ends[1]);
  Preparations how(words[0]);
  how.check(posix_spawn_file_actions_addopen(&how.files, STDIN_FILENO, "/dev/null", O_RDONLY, 0));
  how.check(posix_spawn_file_actions_adddup2(&how.files, its_output.number(), STDOUT_FILENO));
  how.check(posix_spawn_file_actions_addopen(&how.files, STDERR_FILENO, "/dev/null", O_WRONLY, 0));
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGINT);
  sigaddset(&blocked, SIGTERM);
  how.check(posix_spawnattr_setsigmask(&how.attributes, &blocked));
  how.check(posix_spawnattr_setflags(&how.attributes, POSIX_SPAWN_SETSIGMASK));
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t id = -1;
  how.check(posix_spawn(&id, arguments[0], &how.files, &how.attributes, arguments.data(), environ));
  id_ = id;
}

ChildProcess::~ChildProcess() {
  if (id_ < 0) return;
  kill(id_, SIGKILL);
  wait();
}

ChildProcess::End ChildProcess::wait() {
  if (id_ < 0) return end_;
  int status = 0;
  while (waitpid(id_, &status, 0) < 0 && errno == EINTR) {
  }
  id_ = -1;
  end_ = WIFSIGNALED(status) ? End{WTERMSIG(status), 0} : End{0, WEXITSTATUS(status)};
  return end_;
}

}  // namespace headwater
