#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data_options.hpp"
#include "fit_checkpoints.hpp"
#include "headwater/session/config.hpp"
#include "options.hpp"

// The options of headwater fit.
struct FitOptions {
  DataOptions data;
  std::string out;
  PriorOptions prior;
  headwater::Config settings;  // numbers and flags are parsed directly into it
  std::vector<std::string> hold;
  std::string init = "auto";
  headwater::Index restarts = 1;
  std::string method = "online";
  EngineOptions engine;
  std::string smoother = "auto";
  std::string backward = "mcmc";
  std::string scale_in = "auto";
  std::string step = "auto";
  std::string average = "auto";
  std::string log;
  std::string activations;
  bool surprise = false;
  CheckpointOptions checkpoints;
  bool quiet = false;

  void add_to(CLI::App& command);
  void check_run(const headwater::Config& config) const;
  // Reads the starting basis if a file is named.
  headwater::Config config() const;
  headwater::Matrix read_start(const headwater::Config& config) const;
  // Throws an InputError that names the file if the starting basis does not fit the data.
  void check_start(const headwater::Config& config, headwater::Index num_channels) const;
};
