#pragma once

#include <time.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

// Summaries of results over several runs, for the benchmarks.
namespace headwater::bench {

inline double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// 0 for a single value.
inline double standard_deviation(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const double centre = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - centre) * (value - centre);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

inline double standard_error(const std::vector<double>& values) {
  return standard_deviation(values) / std::sqrt(static_cast<double>(values.size()));
}

inline double root_mean_square(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return std::sqrt(sum / static_cast<double>(values.size()));
}

// Processor time of this thread, which other work on the machine hardly affects.
inline double processor_seconds(const std::function<void()>& work) {
  const auto now = [] {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  const double start = now();
  work();
  return now() - start;
}

// A filter needs another seed than its data: with the same seed both would draw the same numbers,
// because their addresses are the same.
inline std::uint64_t filter_seed(std::uint64_t data_seed) { return data_seed + 1000000; }

}  // namespace headwater::bench
