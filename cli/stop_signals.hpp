#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

// After this call, SIGINT and SIGTERM request an orderly stop instead of killing the program. A
// second signal kills it.
void watch_for_stop_signals();

// The signal that requested a stop, or 0.
int stop_signal();
const char* stop_signal_name();

// Three tenths of a second after a stop was requested, calls a function on a thread of its own,
// which is to end the program: whatever the program does then - search for a start, take in an
// observation of an hour's work, wait for a disk - it does not look at signals. As soon as the stop
// is requested, the same thread calls another function, which makes the end a short one: a large
// file takes longer to write than a user is willing to wait.
class StopDeadline {
 public:
  explicit StopDeadline(
      std::function<void()> end_program, std::function<void()> prepare_the_end = [] {});
  StopDeadline(const StopDeadline&) = delete;
  StopDeadline& operator=(const StopDeadline&) = delete;
  ~StopDeadline();

  void lift();  // nothing is called from here on

 private:
  void wait(const std::function<void()>& end_program, const std::function<void()>& prepare_the_end);

  std::mutex mutex_;
  std::condition_variable lifted_;
  bool is_lifted_ = false;
  std::thread thread_;
};
