#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "headwater/io/sink.hpp"
#include "headwater/session/choices.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

// Options that several commands share.

// --prior, --set, --per-component, --states, --transition
struct PriorOptions {
  std::string name;
  std::vector<std::string> assignments;  // NAME=VALUE
  bool per_component = false;
  std::string states;
  std::string transition;

  void add_to(CLI::App& command);
  // Reads the files that the assignments name. Throws UsageError for what the prior does not have.
  headwater::PriorConfig config() const;
};

// --engine, --particles, --beam-width, --proposal, --resampling, --resample-below, --threads: how
// the E-step is done.
struct EngineOptions {
  std::string engine = "auto";
  std::string proposal = "auto";
  std::string resampling = "systematic";
  headwater::EngineConfig settings;

  void add_to(CLI::App& command);
  // Throws UsageError for a value out of range.
  headwater::EngineConfig config() const;
};

// A sink for an output that was asked for; null if it was not.
std::unique_ptr<headwater::MatrixSink> sink_if_named(const std::string& name);

// --seed: digits that fit 64 bits.
CLI::Option& add_seed_option(CLI::App& command, std::uint64_t& seed);

// Every prior with its parameters, for the foot of a command's --help.
std::string list_priors();

// The value of `text` in a table of names; UsageError naming the option and all choices if none.
[[noreturn]] void throw_unknown_choice(const char* option, const std::string& text,
                                       const std::vector<std::string>& names);

template <class Value>
Value choose(const char* option, const std::string& text,
             const headwater::Choices<Value>& choices) {
  std::vector<std::string> names;
  for (const headwater::Choice<Value>& choice : choices) {
    if (text == choice.name) return choice.value;
    names.emplace_back(choice.name);
  }
  throw_unknown_choice(option, text, names);
}
