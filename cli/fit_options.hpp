#pragma once

#include <string>

#include "data_options.hpp"
#include "fit_checkpoints.hpp"
#include "headwater/config.hpp"
#include "options.hpp"

// The options of headwater fit.
struct FitOptions {
  DataOptions data;
  std::string out;
  ParameterOptions parameters;
  headwater::Config settings;                // what is typed goes straight into place
  std::vector<headwater::Index> candidates;  // numbers of components
  std::string init_file;                     // of the starting basis, if one is named
  std::string log;
  std::string activations;
  bool surprise = false;
  std::string serve;    // where to listen: [ADDRESS:]PORT
  std::string metrics;  // a file
  CheckpointOptions checkpoints;
  bool quiet = false;
  std::string config_file;  // its options are among the arguments already

  static headwater::OptionTable<FitOptions> table();
  // Throws if one of the files that the fit reads or writes cannot be what it is to be.
  void check_files() const;
  void check_run(const headwater::Config& config) const;
  void check_candidates(const headwater::Config& config) const;
  // Reads the starting basis if a file is named.
  headwater::Config config() const;
  headwater::Matrix read_start(const headwater::Config& config) const;
  // Throws an InputError that names the file if the starting basis does not fit the data.
  void check_start(const headwater::Config& config, headwater::Index num_channels) const;
};
