#include "headwater/law_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headwater/emission/hurdle.hpp"
#include "headwater/emission/negative_binomial.hpp"
#include "headwater/emission/poisson.hpp"
#include "headwater/error.hpp"

namespace headwater {

namespace {

Vector one_or_each(const LawArguments& arguments, double value) {
  return Vector::Constant(arguments.shares_parameters ? 1 : arguments.num_channels, value);
}

NegativeBinomial drifting_levels(const LawArguments& arguments) {
  return NegativeBinomial(one_or_each(arguments, NegativeBinomial::kFirstDispersion),
                          NegativeBinomial::kFirstPersistence);
}

}  // namespace

const std::vector<LawInfo>& law_table() {
  static const std::vector<LawInfo> table = {
      {"poisson",
       "counts whose variance is their mean",
       {},
       [](const LawArguments&) { return AnyLaw(Poisson()); }},
      {NegativeBinomial::kName,
       "counts whose variance is mean + dispersion mean^2",
       {{"dispersion", "0 or more; 0 is the Poisson law; starts at 0.1"}},
       [](const LawArguments& arguments) {
         return AnyLaw(
             NegativeBinomial(one_or_each(arguments, NegativeBinomial::kFirstDispersion)));
       }},
      {NegativeBinomial::kDrifting,
       "negative binomial counts whose channels each have a level that drifts around 1",
       {{"dispersion", "variance of a level, 0 or more; starts at 0.1"},
        {NegativeBinomial::kPersistence,
         "correlation of a level from one observation to the next, in [0, 1); starts at 0.9"}},
       [](const LawArguments& arguments) { return AnyLaw(drifting_levels(arguments)); }},
      {Hurdle::kName,
       "counts that are mostly 0 or 1; their mean is (1 - exp(-B x)) (1 + excess)",
       {{Hurdle::kExcess, "mean of (count - 1) of the positive counts, 0 or more; starts at 0.1"}},
       [](const LawArguments& arguments) {
         return AnyLaw(Hurdle(one_or_each(arguments, Hurdle::kFirstExcess)));
       }},
      {Hurdle::kDrifting,
       "hurdle counts whose channels each have a level that drifts around 1",
       {{Hurdle::kExcess, "mean of (count - 1) of the positive counts, 0 or more; starts at 0.1"},
        {"dispersion", "variance of a level, 0 or more; starts at 0.1"},
        {NegativeBinomial::kPersistence,
         "correlation of a level from one observation to the next, in [0, 1); starts at 0.9"}},
       [](const LawArguments& arguments) {
         return AnyLaw(
             Hurdle(one_or_each(arguments, Hurdle::kFirstExcess), drifting_levels(arguments)));
       }},
  };
  return table;
}

bool is_law_parameter(std::string_view name) {
  return std::ranges::any_of(law_table(), [&](const LawInfo& law) {
    return std::ranges::find(law.parameters, name, &LawInfo::ParameterInfo::name) !=
           law.parameters.end();
  });
}

const LawInfo& find_law(std::string_view name) {
  const std::vector<LawInfo>& table = law_table();
  const auto found = std::ranges::find(table, name, &LawInfo::name);
  if (found != table.end()) return *found;
  std::string names;
  for (const LawInfo& law : table) names += (names.empty() ? "" : ", ") + law.name;
  throw UsageError(fmt::format("unknown law '{}'; there are: {}", name, names));
}

}  // namespace headwater
