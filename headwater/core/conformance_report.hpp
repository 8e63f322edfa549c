#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace headwater {

// How a conformance check is made, of a prior or of a law of the counts.
struct ConformanceOptions {
  std::uint64_t seed = 1;
  // The probability of a false finding, over all checks by simulation of one call together.
  double alarm_rate = 1e-6;
  int num_draws = 20000;
};

// What is wrong, one sentence each; nothing if it conforms.
struct ConformanceReport {
  std::vector<std::string> findings;
  bool passed() const { return findings.empty(); }
};

}  // namespace headwater
