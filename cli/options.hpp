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

// Options shared by several commands.

// --prior, --set, --per-component, --states, --transition
struct PriorOptions {
  std::string name;
  std::vector<std::string> assignments;  // NAME=VALUE
  bool per_component = false;
  std::string states;
  std::string transition;

  void add_to(CLI::App& command);
  // Reads the files that the assignments name. Throws UsageError for a parameter that the prior
  // does not have.
  headwater::PriorConfig config() const;
};

// The options of the E-step: --engine, --particles, --beam-width, --proposal, --resampling,
// --resample-below, --threads.
struct EngineOptions {
  std::string engine = "auto";
  std::string proposal = "auto";
  std::string resampling = "systematic";
  headwater::EngineConfig settings;

  void add_to(CLI::App& command);
  // Throws UsageError if a value is out of range.
  headwater::EngineConfig config() const;
};

// Creates the output file of that name; null if the name is empty.
std::unique_ptr<headwater::MatrixSink> sink_if_named(const std::string& name);

// --seed, an integer from 0 to 2^64 - 1.
CLI::Option& add_seed_option(CLI::App& command, std::uint64_t& seed);

// All priors and their parameters, for the end of a command's --help.
std::string list_priors();

// Looks up `text` in a table of names. Throws a UsageError that names the option and its choices if
// there is no such name.
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
