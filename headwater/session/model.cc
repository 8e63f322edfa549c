#include "headwater/model.hpp"

#include <algorithm>

namespace headwater {

namespace {

constexpr std::int64_t kFewMSteps = 50;

}  // namespace

std::string version() { return HEADWATER_VERSION; }

bool Model::has_hardly_moved() const {
  const auto has = [&](const char* name, const char* value) {
    return std::ranges::find(options, std::pair<std::string, std::string>(name, value)) !=
           options.end();
  };
  const bool keeps_its_start =
      has("init", "auto") && has("step", "auto") && has("paper-exact", "no");
  return method == "online" && !keeps_its_start && iterations < kFewMSteps;
}

Matrix basis_of(const Estimate& estimate, bool background) {
  return estimate.basis.leftCols(estimate.basis.cols() - (background ? 1 : 0));
}

Vector background_of(const Estimate& estimate, bool background) {
  return background ? Vector(estimate.basis.rightCols(1)) : Vector();
}

}  // namespace headwater
