#pragma once

#include <memory>
#include <string>
#include <vector>

#include "headwater/session/options.hpp"
#include "headwater/sink.hpp"
#include "run_files.hpp"

// Options shared by several commands.

// --set, --states, --transition: the parameters of the prior and of the law of the counts.
struct ParameterOptions {
  std::vector<std::string> assignments;  // NAME=VALUE
  std::string states;
  std::string transition;

  static headwater::OptionTable<ParameterOptions> table();
  void add_to(RunFiles& files) const;
  bool empty() const { return assignments.empty() && states.empty() && transition.empty(); }
  // Reads the files that the assignments name. Throws UsageError for what the prior does not have.
  headwater::Parameters parameters(const std::string& prior) const;
  // Those among the assignments that are parameters of a law of the counts.
  headwater::Parameters law_parameters() const;
};

// What the name of a file may be, for messages and pages.
inline constexpr const char* kFileName = "the name of a file";

// --quiet
template <class Target>
headwater::Option<Target> quiet_option(bool Target::*member, const std::string& help) {
  return headwater::rows::flag({.name = "quiet", .help = help}, member);
}

// Creates the output file of that name; null if the name is empty.
std::unique_ptr<headwater::MatrixSink> sink_if_named(const std::string& name,
                                                     const std::vector<std::string>& header = {});

// Every prior with its parameters, for the foot of a command's --help.
std::string list_priors();
