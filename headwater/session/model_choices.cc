#include "headwater/session/model_choices.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headwater/config.hpp"
#include "headwater/error.hpp"

namespace headwater {

namespace {

constexpr const char* kPriors = "/choice_of_prior";
constexpr const char* kStability = "/stability";

}  // namespace

void write_choice(Hdf5File& file, const std::vector<ComponentScore>& table) {
  if (table.empty()) return;
  const auto column = [&](const auto& value_of_row) {
    Vector values(std::ssize(table));
    std::ranges::transform(table, values.begin(), value_of_row);
    return values;
  };
  const std::string group = "/choice_of_components/";
  file.write(group + "components",
             column([](const auto& row) { return static_cast<double>(row.components); }));
  file.write(group + "score", column([](const auto& row) { return row.score; }));
  file.write(group + "standard_error", column([](const auto& row) { return row.standard_error; }));
  file.write(group + "chosen", column([](const auto& row) { return row.chosen ? 1.0 : 0.0; }));
}

std::vector<ComponentScore> read_choice(const Hdf5Contents& file) {
  const std::string group = "/choice_of_components";
  if (!file.contains(group)) return {};
  const Vector components = file.read_vector(group + "/components");
  const Vector score = file.read_vector(group + "/score");
  const Vector standard_error = file.read_vector(group + "/standard_error");
  const Vector chosen = file.read_vector(group + "/chosen");
  for (const Vector* column : {&score, &standard_error, &chosen}) {
    if (column->size() != components.size()) {
      throw InputError(group + ": its parts are of different lengths");
    }
  }
  std::vector<ComponentScore> table;
  for (Index i = 0; i < components.size(); ++i) {
    if (!(components[i] >= 1 && components[i] <= static_cast<double>(kMostComponents))) {
      throw InputError(
          fmt::format("{}/components: {} is not a number of components", group, components[i]));
    }
    table.push_back(
        {static_cast<Index>(components[i]), score[i], standard_error[i], chosen[i] != 0});
  }
  return table;
}

void write_priors(Hdf5File& file, const std::vector<PriorScore>& table) {
  if (table.empty()) return;
  std::vector<std::string> priors;
  std::vector<std::string> laws;
  Matrix numbers(std::ssize(table), 3);
  for (std::size_t i = 0; i < table.size(); ++i) {
    const PriorScore& row = table[i];
    priors.push_back(row.prior);
    laws.push_back(row.law);
    numbers.row(static_cast<Index>(i)) << row.score, row.standard_error, row.chosen ? 1 : 0;
  }
  const std::string group = kPriors;
  file.write(group + "/prior", priors);
  file.write(group + "/counts", laws);
  file.write(group + "/score", Vector(numbers.col(0)));
  file.write(group + "/standard_error", Vector(numbers.col(1)));
  file.write(group + "/chosen", Vector(numbers.col(2)));
}

std::vector<PriorScore> read_priors(const Hdf5Contents& file) {
  const std::string group = kPriors;
  if (!file.contains(group)) return {};
  const std::vector<std::string> priors = file.read_strings(group + "/prior");
  const std::vector<std::string> laws = file.read_strings(group + "/counts");
  const Vector score = file.read_vector(group + "/score");
  const Vector standard_error = file.read_vector(group + "/standard_error");
  const Vector chosen = file.read_vector(group + "/chosen");
  const Index count = std::ssize(priors);
  if (std::ssize(laws) != count || score.size() != count || standard_error.size() != count ||
      chosen.size() != count) {
    throw InputError(group + ": its parts are of different lengths");
  }
  std::vector<PriorScore> table;
  for (Index i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    table.push_back({priors[at], laws[at], score[i], standard_error[i], chosen[i] != 0});
  }
  return table;
}

void write_stability(Hdf5File& file, const Stability& stability) {
  if (stability.empty()) return;
  const std::string group = kStability;
  Vector found(std::ssize(stability.found));
  std::ranges::copy(stability.found, found.begin());
  file.write(group + "/restarts", stability.restarts);
  file.write(group + "/found", found);
}

Stability read_stability(const Hdf5Contents& file, Index num_components) {
  const std::string group = kStability;
  if (!file.contains(group)) return {};
  Stability stability{file.read_int(group + "/restarts"), {}};
  const Vector found = file.read_vector(group + "/found");
  if (found.size() != num_components) {
    throw InputError(fmt::format("{}/found has {} numbers; expected {}, one for each component",
                                 group, found.size(), num_components));
  }
  for (const double count : found) {
    if (!(count >= 1 && count <= static_cast<double>(stability.restarts))) {
      throw InputError(fmt::format("{}/found: {} is not a number of restarts from 1 to {}", group,
                                   count, stability.restarts));
    }
    stability.found.push_back(static_cast<Index>(count));
  }
  return stability;
}

}  // namespace headwater
