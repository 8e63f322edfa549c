#include "supervisor.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>

namespace {

using Tell = std::function<void(const std::string&)>;

// How Open MPI, PMIx, MPICH and Slurm tell a process its rank; null where it is no rank.
const char* rank_of_this_process() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    if (const char* rank = std::getenv(name)) return rank;
  }
  return nullptr;
}

// Those that are handed on, and the one that says that the child has ended.
sigset_t signals_waited_for() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCHLD}) {
    sigaddset(&signals, signal);
  }
  return signals;
}

void end_by(int signal, const sigset_t& mask) {
  std::signal(signal, SIG_DFL);
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  raise(signal);
}

[[noreturn]] void end_like(int status, bool was_asked_to_end, const char* rank,
                           const sigset_t& mask, const Tell& tell) {
  if (WIFEXITED(status)) _exit(WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  if (was_asked_to_end) end_by(signal, mask);
  tell(
      fmt::format("rank {} was ended by signal {} ({}), which ends the job; --resume continues a "
                  "checkpoint, on any number of ranks",
                  rank, signal, strsignal(signal)));
  _exit(EXIT_FAILURE);
}

[[noreturn]] void wait_for(pid_t child, const char* rank, const sigset_t& mask, const Tell& tell) {
  const sigset_t signals = signals_waited_for();
  bool was_asked_to_end = false;
  for (;;) {
    int signal = 0;
    if (sigwait(&signals, &signal) != 0) continue;
    int status = 0;
    if (signal != SIGCHLD) {
      was_asked_to_end |= signal != SIGUSR1 && signal != SIGUSR2;
      kill(child, signal);
    } else if (waitpid(child, &status, WNOHANG) == child) {
      end_like(status, was_asked_to_end, rank, mask, tell);
    }
  }
}

}  // namespace

void supervise_rank(const Tell& tell) {
  const char* rank = rank_of_this_process();
  if (rank == nullptr) return;
  // Before the child is there, so that none of its signals is lost.
  const sigset_t signals = signals_waited_for();
  sigset_t mask;
  sigprocmask(SIG_BLOCK, &signals, &mask);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child > 0) wait_for(child, rank, mask, tell);
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  if (child < 0) return;  // no room for another process: this one is the rank
  // A rank does not outlive the process that mpirun knows.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(EXIT_FAILURE);
}
