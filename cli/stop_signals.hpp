#pragma once

// From now on SIGINT and SIGTERM ask for an orderly end instead of killing the program; a second
// one kills it.
void watch_for_stop_signals();

// 0, or the signal that asked.
int stop_signal();
