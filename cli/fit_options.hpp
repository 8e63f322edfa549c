#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "data_options.hpp"
#include "fit_checkpoints.hpp"
#include "headwater/config.hpp"
#include "headwater/model.hpp"
#include "headwater/session/restarts.hpp"
#include "options.hpp"
#include "ranks.hpp"

// The options of headwater fit.
struct FitOptions {
  DataOptions data;
  std::string out;
  ParameterOptions parameters;
  headwater::Config settings;                              // what is typed goes straight into place
  std::vector<std::pair<std::string, std::string>> typed;  // the settings that were given, as texts
  std::vector<headwater::Index> candidates;                // numbers of components
  std::string init_file;  // of the starting basis, or a model, if one is named
  std::string continued;  // the model that the data follow on, if one is named
  std::int64_t forget = 0;
  std::string log;
  std::string activations;
  bool surprise = false;
  std::string serve;    // where to listen: [ADDRESS:]PORT
  std::string metrics;  // a file
  CheckpointOptions checkpoints;
  RankOptions ranks;
  bool quiet = false;
  std::string config_file;  // its options are among the arguments already

  static headwater::OptionTable<FitOptions> table();
  // Throws if one of the files that the fit reads or writes cannot be what it is to be.
  void check_files() const;
  void check_run(const headwater::Config& config) const;
  void check_candidates(const headwater::Config& config) const;
  // The name of the model that is continued, by --continue or --init; empty if there is none.
  std::string model_name() const;
  // Reads it. Errors name the file.
  std::optional<headwater::Model> read_continued() const;
  // Reads the starting basis if a file is named. With a model, its options, but for what was given.
  headwater::Config config(const std::optional<headwater::Model>& model) const;
  // A new fit, or one that continues the model.
  headwater::Restarts start(const headwater::Config& config,
                            const std::optional<headwater::Model>& model) const;
  headwater::Config config_for(const headwater::Model& model) const;
  bool is_typed(const std::string& option) const;
  headwater::Matrix read_start(const headwater::Config& config) const;
  // Throws an InputError that names the file if the starting basis or the model does not fit the
  // data.
  void check_start(const headwater::Config& config, headwater::Index num_channels) const;
};
