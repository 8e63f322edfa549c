#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "headwater/io/text/with_commas.hpp"

// A progress line on standard error: work done, rate, and remaining time. Silent if standard error
// is not a terminal or --quiet is given.
class Progress {
 public:
  explicit Progress(bool quiet);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // done: the number of `what` so far, such as "observations"; fraction: of the total, if known.
  void show(std::int64_t done, const char* what, std::optional<double> fraction);
  void clear();

  double seconds() const;  // since construction

 private:
  using Clock = std::chrono::steady_clock;

  bool is_on_;
  bool is_shown_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
};

using headwater::with_commas;
// Rounds a rate to three digits: 45123.4 -> "45,100".
std::string rounded_rate(double per_second);
