#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "headwater/model.hpp"
#include "headwater/report/report_data.hpp"

namespace headwater {

// What the pages are drawn from: see docs/state.md.
inline constexpr int kStateVersion = 1;

struct StateParts {
  const Model& model;
  bool last = false;                    // the last iterate instead of the reported estimate
  std::string title = {};               // what the model is called: its file, usually
  std::string data = {};                // the name of the data, if there are any
  std::vector<std::string> names = {};  // of the channels; numbers stand for names that are missing
  const StreamReport* stream = nullptr;
  // How times are written; empty if observations have none.
  std::function<std::string(double time)> time_text = {};
  std::function<std::string(std::int64_t steps)> time_after = {};  // the last observation
  // The true basis, M x K, in any order of its columns.
  std::optional<Matrix> truth = {};
};

// Throws InputError if the truth is not of the size of the basis.
std::string state_json(const StateParts& parts);

}  // namespace headwater
