#pragma once

#include <nanobind/nanobind.h>

#include <chrono>

namespace headwater::python {

// Throws the exception that a signal handler has raised, usually KeyboardInterrupt. Acquires the
// GIL.
inline void heed_signals() {
  const nanobind::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
}

// Checks for signals from time to time, in a loop that does not hold the GIL.
class SignalWatch {
 public:
  void look() {
    if (++calls_ % kCallsBetweenLooks != 0) return;
    const Clock::time_point now = Clock::now();
    if (now - looked_at_ < kPatience) return;
    looked_at_ = now;
    heed_signals();
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr auto kPatience = std::chrono::milliseconds(50);
  static constexpr unsigned kCallsBetweenLooks = 8;

  unsigned calls_ = 0;
  Clock::time_point looked_at_ = Clock::now();
};

}  // namespace headwater::python
