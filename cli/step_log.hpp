#pragma once

#include <string>

#include "headwater/learning/online_em.hpp"
#include "headwater/session/engine_table.hpp"
#include "line_file.hpp"

// What --surprise adds to a line.
struct Surprise {
  double surprise = 0;  // -log p(y_t | y_1..t-1)
  double tail_probability = 0;
};

// One line of JSON for each observation, written as it happens.
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

// One row of K numbers for each observation, then the surprise and its tail probability.
void write_activations(LineFile& file, const headwater::Vector& x, const Surprise* surprise);
