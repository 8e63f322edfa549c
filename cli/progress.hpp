#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

// One line on standard error that keeps changing while work goes on: what was done, how fast, how
// long still. Silent when standard error is not a terminal, or when told to be quiet.
class Progress {
 public:
  explicit Progress(bool quiet);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // done: so many `what` so far; fraction of all, where known.
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

// 1234567 -> "1,234,567"
std::string with_commas(std::int64_t number);
// 45123.4 -> "45,100": three digits are enough for a rate.
std::string rounded_rate(double per_second);
