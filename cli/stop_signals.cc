#include "stop_signals.hpp"

#include <semaphore.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <initializer_list>

namespace {

// Of the second within which a stop is to be obeyed: the rest is for a checkpoint that may be
// large, which is written after work that ends just in time, too.
constexpr std::chrono::milliseconds kGrace{300};

volatile std::sig_atomic_t asked = 0;
sem_t posted;  // a semaphore may be posted in a signal handler

void ask(int signal) {
  asked = signal;
  std::signal(signal, SIG_DFL);
  sem_post(&posted);
}

}  // namespace

void watch_for_stop_signals() {
  sem_init(&posted, 0, 0);
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction action = {};
    action.sa_handler = ask;  // no SA_RESTART, so that the signal interrupts a blocking read
    sigaction(signal, &action, nullptr);
  }
}

int stop_signal() { return asked; }
const char* stop_signal_name() { return asked == SIGINT ? "SIGINT" : "SIGTERM"; }

StopDeadline::StopDeadline(std::function<void()> end_program,
                           std::function<void()> prepare_the_end) {
  // The signals are for the thread that may be waiting in a system call.
  sigset_t stops;
  sigset_t before;
  sigemptyset(&stops);
  sigaddset(&stops, SIGINT);
  sigaddset(&stops, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &stops, &before);
  thread_ = std::thread([this, end = std::move(end_program), prepare = std::move(prepare_the_end)] {
    wait(end, prepare);
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

StopDeadline::~StopDeadline() {
  lift();
  sem_post(&posted);
  thread_.join();
}

void StopDeadline::lift() {
  const std::lock_guard lock(mutex_);
  is_lifted_ = true;
  lifted_.notify_all();
}

void StopDeadline::wait(const std::function<void()>& end_program,
                        const std::function<void()>& prepare_the_end) {
  while (sem_wait(&posted) != 0 && errno == EINTR) {
  }
  const auto deadline = std::chrono::steady_clock::now() + kGrace;
  const auto is_lifted = [this] { return is_lifted_; };
  std::unique_lock lock(mutex_);
  if (is_lifted_) return;
  lock.unlock();
  prepare_the_end();
  lock.lock();
  if (!lifted_.wait_until(lock, deadline, is_lifted)) end_program();
}
