#pragma once

#include <string>
#include <vector>

#include "headwater/learning/online_em.hpp"
#include "headwater/session/engine_table.hpp"
#include "headwater/surprise.hpp"

// The values that --surprise adds to a line.
struct Surprise {
  double surprise = 0;         // -log p(y_t | y_1..t-1)
  headwater::RowSurprise row;  // calibrated: see SurpriseCalibration
  const headwater::RowSurprise& by_model;
  const std::vector<std::string>& labels;  // of channels
};

// The lines that --log and --activations have, each with its line end.

// surprise: null if it was not asked for. time: empty if rows have none.
// with_prior: names the prior, which may change from line to line.
std::string log_line(const headwater::StepReport& report, headwater::EngineKind engine,
                     const headwater::Estimate& estimate, const Surprise* surprise,
                     const std::string& time, bool with_prior = false);
std::string bad_row_line(const std::string& message);

// The time, K activations, then the surprise and its tail probability.
std::string activations_line(const headwater::Vector& x, const Surprise* surprise,
                             const std::string& time);
// Where rows have times, a first line says what is in the columns.
std::string activations_header(headwater::Index num_components, bool with_surprise);
