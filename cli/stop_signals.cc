#include "stop_signals.hpp"

#include <csignal>
#include <initializer_list>

namespace {

volatile std::sig_atomic_t asked = 0;

void ask(int signal) {
  asked = signal;
  std::signal(signal, SIG_DFL);
}

}  // namespace

void watch_for_stop_signals() {
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction action = {};
    action.sa_handler = ask;  // no SA_RESTART, so that the signal interrupts a blocking read
    sigaction(signal, &action, nullptr);
  }
}

int stop_signal() { return asked; }
