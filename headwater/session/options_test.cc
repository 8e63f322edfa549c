#include "headwater/session/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "headwater/error.hpp"

namespace headwater {
namespace {

using testing::HasSubstr;

std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

// One beyond each end of the range, and the ends themselves where they are allowed.
struct Ends {
  std::vector<std::string> allowed;
  std::vector<std::string> refused;
};

Ends ends_of(const WholeNumber& range) {
  Ends ends{{number_text(range.least), number_text(range.most)}, {number_text(range.least - 1)}};
  const bool is_widest = range.most == std::numeric_limits<std::uint64_t>::max();
  ends.refused.push_back(is_widest ? "18446744073709551616" : number_text(range.most + 1));
  return ends;
}

Ends ends_of(const RealNumber& range) {
  const double infinity = std::numeric_limits<double>::infinity();
  Ends ends{{number_text(std::nextafter(range.least, infinity)),
             number_text(std::nextafter(range.most, -infinity))},
            {number_text(std::nextafter(range.least, -infinity)),
             number_text(std::nextafter(range.most, infinity)), "nan", "inf", "-inf"}};
  (range.has_least ? ends.allowed : ends.refused).push_back(number_text(range.least));
  (range.has_most ? ends.allowed : ends.refused).push_back(number_text(range.most));
  return ends;
}

template <class Target>
void expect_ends(const Option<Target>& row, const Ends& ends) {
  for (const std::string& text : ends.allowed) {
    Target target;
    EXPECT_TRUE(row.set(target, text)) << row.name << " " << text;
    EXPECT_EQ(row.get(target), text) << row.name;
    EXPECT_TRUE(row.is_valid(target)) << row.name << " " << text;
  }
  for (const std::string& text : ends.refused) {
    Target target;
    EXPECT_FALSE(row.set(target, text)) << row.name << " " << text;
    EXPECT_EQ(row.get(target), row.default_text) << row.name << " was changed by " << text;
  }
}

TEST(ConfigOptions, HaveNamesOfTheirOwn) {
  std::set<std::string> names;
  std::set<std::string> python_names;
  for (const Option<Config>& row : config_options()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_TRUE(python_names.insert(row.python_name).second) << row.python_name;
    EXPECT_THAT(row.name, testing::MatchesRegex("[a-z]+(-[a-z]+)*"));
    EXPECT_THAT(row.python_name, testing::MatchesRegex("[a-z]+(_[a-z]+)*"));
    EXPECT_EQ(find_by_name(config_options(), row.name), &row);
    EXPECT_EQ(find_by_python_name(config_options(), row.python_name), &row);
  }
  EXPECT_EQ(find_by_name(config_options(), "guess"), nullptr);
  EXPECT_EQ(find_by_python_name(config_options(), ""), nullptr);
}

TEST(ConfigOptions, AreDescribed) {
  for (const Option<Config>& row : config_options()) {
    EXPECT_FALSE(row.group.empty()) << row.name;
    EXPECT_GE(row.help.size(), 20u) << row.name;
    EXPECT_NE(row.help.back(), '.') << row.name;
    EXPECT_EQ(row.help.find('\n'), std::string::npos) << row.name;
    EXPECT_FALSE(expectation(row.kind).empty()) << row.name;
    EXPECT_FALSE(allowed_values(row.kind).empty()) << row.name;
  }
}

TEST(ConfigOptions, DefaultsAreThoseOfTheStructAndAllowed) {
  for (const Option<Config>& row : config_options()) {
    EXPECT_EQ(row.default_text, row.get(Config{})) << row.name;
    if (row.name == "components") continue;  // which has none
    EXPECT_TRUE(row.is_valid(Config{})) << row.name;
  }
}

TEST(ConfigOptions, TextsAreReadBack) {
  for (const Option<Config>& row : config_options()) {
    if (row.name == "components" || row.default_text.empty()) continue;
    Config config;
    EXPECT_TRUE(row.set(config, row.default_text)) << row.name;
    EXPECT_EQ(row.get(config), row.default_text) << row.name;
  }
}

TEST(ConfigOptions, RangesEndWhereTheySay) {
  int numbers = 0;
  for (const Option<Config>& row : config_options()) {
    if (const auto* whole = std::get_if<WholeNumber>(&row.kind)) {
      expect_ends(row, ends_of(*whole));
      ++numbers;
    }
    if (const auto* real = std::get_if<RealNumber>(&row.kind)) {
      expect_ends(row, ends_of(*real));
      ++numbers;
    }
  }
  EXPECT_GE(numbers, 19);
}

TEST(ConfigOptions, EveryChoiceCanBeMadeAndNoOther) {
  for (const Option<Config>& row : config_options()) {
    const auto* choice = std::get_if<NamedChoice>(&row.kind);
    if (choice == nullptr) continue;
    EXPECT_GE(choice->names.size(), 2u) << row.name;
    for (const std::string& name : choice->names) {
      Config config;
      EXPECT_TRUE(row.set(config, name)) << row.name;
      EXPECT_EQ(row.get(config), name) << row.name;
    }
    Config config;
    EXPECT_FALSE(row.set(config, "guess")) << row.name;
  }
}

TEST(ConfigOptions, NothingIsNoValue) {
  for (const Option<Config>& row : config_options()) {
    Config config;
    EXPECT_FALSE(row.set(config, "")) << row.name;
  }
}

TEST(ConfigOptions, NumbersAreDecimalAndNothingElse) {
  const Option<Config>& lag = *find_by_name(config_options(), "lag");
  Config config;
  EXPECT_TRUE(lag.set(config, "010"));
  EXPECT_EQ(config.lag, 10);
  for (const char* text : {"0x10", "1e3", "1.0", " 1", "1 ", "+1", "one", "9223372036854775808"}) {
    EXPECT_FALSE(lag.set(config, text)) << text;
  }
  EXPECT_EQ(message_of([&] { set_from_text(lag, config, "1e30"); }),
            "--lag 1e30: expected a whole number from 0 to 1000000");
  EXPECT_EQ(message_of([&] { set_from_text(lag, config, ""); }),
            "--lag '': expected a whole number from 0 to 1000000");
}

TEST(ConfigOptions, ValidateRefusesWhatIsOutOfRange) {
  const auto refused = [](auto change) {
    Config config;
    config.num_components = 2;
    config.validate();
    change(config);
    return message_of([&] { config.validate(); });
  };
  EXPECT_EQ(refused([](Config& c) { c.lag = std::numeric_limits<Index>::max(); }),
            "lag is 9223372036854775807; expected a whole number from 0 to 1000000");
  EXPECT_EQ(refused([](Config& c) { c.engine.num_threads = 0; }),
            "threads is 0; expected a whole number from 1 to 1024");
  EXPECT_EQ(refused([](Config& c) { c.m_step.basis_shape = 1e308; }),
            "basis-shape is 1e+308; expected a number from 1 to 1000000");
  EXPECT_EQ(refused([](Config& c) { c.window_tolerance = std::nan(""); }),
            "window-tolerance is nan; expected a number in (0, 1)");
  EXPECT_EQ(refused([](Config& c) { c.restarts = 1001; }),
            "restarts is 1001; expected a whole number from 1 to 1000");
  EXPECT_EQ(refused([](Config& c) { c.m_step.transition_floor = 0.5; }),
            "transition-floor is 0.5; expected a number in [0, 0.5)");
  EXPECT_THAT(refused([](Config& c) { c.m_step.hold_basis = true; }), HasSubstr("init"));
  EXPECT_EQ(message_of([] { EngineConfig{.num_particles = 0}.validate(); }),
            "particles is 0; expected a whole number from 1 to 16777216");
}

TEST(ConfigOptions, WhatIsHeldIsAListOfNames) {
  const Option<Config>& hold = *find_by_name(config_options(), "hold");
  Config config;
  EXPECT_EQ(hold.get(config), "");
  for (const char* name : {"basis", "stay_off", "stay_on"}) EXPECT_TRUE(hold.set(config, name));
  EXPECT_TRUE(config.m_step.hold_basis);
  EXPECT_THAT(config.m_step.held_parameters, testing::ElementsAre("stay_off", "stay_on"));
  EXPECT_EQ(hold.get(config), "stay_off,stay_on,basis");
}

TEST(ConfigOptions, AStartIsANameOrABasis) {
  const Option<Config>& init = *find_by_name(config_options(), "init");
  Config config;
  EXPECT_TRUE(init.set(config, "random"));
  EXPECT_EQ(config.init, Init::kRandom);
  EXPECT_FALSE(init.set(config, "start.csv"));
  init.set_table(config, Matrix::Ones(3, 2));
  EXPECT_EQ(config.initial_basis, Matrix::Ones(3, 2));
  EXPECT_EQ(init.get(config), "given");
}

// The names and texts that model files have had from the first version on.
TEST(ConfigOptions, AreDescribedAsTheyTakeEffect) {
  Config config;
  config.step_size = StepSize::constant(0.01);
  config.paper_exact = true;
  config.m_step.held_parameters = {"alpha"};
  const OptionTexts expected = {
      {"counts", "poisson"},
      {"dispersion", "channel"},
      {"period", ""},
      {"phase", "0"},
      {"init", "auto"},
      {"start-on", "0"},
      {"per-component", "no"},
      {"hold", "alpha"},
      {"background", "no"},
      {"method", "online"},
      {"engine", "auto"},
      {"proposal", "auto"},
      {"particles", "1000"},
      {"beam-width", "256"},
      {"resampling", "systematic"},
      {"resample-below", "0.5"},
      {"backward", "mcmc"},
      {"backward-draws", "2"},
      {"smoother", "auto"},
      {"lag", "0"},
      {"window-tolerance", "1e-06"},
      {"block", "0"},
      {"paper-exact", "yes"},
      {"scale-in", "basis"},
      {"round", "0"},
      {"step", "constant:0.01"},
      {"burn-in", "0"},
      {"average", "none"},
      {"iterations", "200"},
      {"tolerance", "1e-09"},
      {"basis-shape", "1"},
      {"basis-rate", "0"},
      {"basis-floor", "0"},
      {"transition-weight", "0"},
      {"outliers", "keep"},
      {"standard-errors", "no"},
  };
  EXPECT_EQ(describe(config), expected);
  const OptionTexts others = {{"components", "0"},
                              {"prior", "basis-selection"},
                              {"seed", "1"},
                              {"strict", "no"},
                              {"trace-every", "0"}};
  EXPECT_EQ(describe(config, Recorded::kCheckpoints), others);
}

TEST(EngineOptions, AreThoseOfAFitToo) {
  for (const Option<EngineConfig>& row : engine_options()) {
    const Option<Config>* of_fit = find_by_name(config_options(), row.name);
    ASSERT_NE(of_fit, nullptr) << row.name;
    EXPECT_EQ(of_fit->help, row.help);
    EXPECT_EQ(of_fit->default_text, row.default_text);
  }
}

// What CONTRIBUTING.md says of a new option: a member and a row are all that it takes.
struct Kettle {
  double degrees = 95.5;
  int cups = 2;
};

OptionTable<Kettle> kettle_options() {
  return rows::for_python_too<Kettle>({
      rows::whole_number({.name = "cups", .help = "how many", .python_name = "num_cups"},
                         &Kettle::cups, 1, 8),
      rows::real_number({.name = "boil-to",
                         .help = "where the water is taken off the fire",
                         .recorded = Recorded::kModels},
                        &Kettle::degrees, rows::closed(60, 100)),
  });
}

TEST(OptionTable, AllFollowsFromARow) {
  const OptionTable<Kettle> table = kettle_options();
  const Option<Kettle>& row = *find_by_name(table, "boil-to");
  EXPECT_EQ(row.default_text, "95.5");
  EXPECT_EQ(row.python_name, "boil_to");
  EXPECT_EQ(find_by_python_name(table, "num_cups"), &table.front());
  EXPECT_EQ(allowed_values(row.kind), "60 to 100");

  Kettle kettle;
  set_from_text(row, kettle, "80");
  EXPECT_EQ(kettle.degrees, 80);
  EXPECT_EQ(texts_of(table, kettle, Recorded::kModels), (OptionTexts{{"boil-to", "80"}}));
  EXPECT_EQ(message_of([&] { set_from_text(row, kettle, "101"); }),
            "--boil-to 101: expected a number from 60 to 100");
  kettle.degrees = 101;
  EXPECT_EQ(message_of([&] { check_values(table, kettle); }),
            "boil-to is 101; expected a number from 60 to 100");
}

}  // namespace
}  // namespace headwater
