#pragma once

// After this call, SIGINT and SIGTERM request an orderly stop instead of killing the program. A
// second signal kills it.
void watch_for_stop_signals();

// The signal that requested a stop, or 0.
int stop_signal();
