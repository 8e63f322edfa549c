#pragma once

#include <string>

#include "headwater/learning/online_em.hpp"
#include "headwater/session/engine_table.hpp"
#include "line_file.hpp"

// The values that --surprise adds to a line.
struct Surprise {
  double surprise = 0;  // -log p(y_t | y_1..t-1)
  double tail_probability = 0;
};

// Writes one line of JSON for each observation, as it is processed.
class StepLog {
 public:
  explicit StepLog(LineFile& file) : file_(file) {}
  // surprise: null if it was not asked for.
  void write(const headwater::StepReport& report, headwater::EngineKind engine,
             const headwater::Estimate& estimate, const Surprise* surprise);
  void write_bad_row(const std::string& message);

 private:
  LineFile& file_;
};

// Writes one row for an observation: K activations, then the surprise and its tail probability.
void write_activations(LineFile& file, const headwater::Vector& x, const Surprise* surprise);
