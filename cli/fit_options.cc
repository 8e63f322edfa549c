#include "fit_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <utility>

#include "config_file.hpp"
#include "hdf5_reader.hpp"
#include "headwater/core/error.hpp"

using namespace headwater;

namespace {

void add_what(CLI::App& command, FitOptions& options) {
  Config& to = options.settings;
  command.add_option("--components", to.num_components, "K, the number of sources")
      ->required()
      ->type_name("K");
  options.prior.add_to(command);
  command
      .add_option("--hold", options.hold, "keep a parameter, or 'basis', as it starts (repeatable)")
      ->type_name("NAME")
      ->take_all();
  command
      .add_option(
          "--init", options.init,
          "start of the basis: auto (the best of several, tried on the first observations), "
          "random (scaled to them) or an M x K file")
      ->type_name("auto|random|FILE")
      ->capture_default_str();
  command
      .add_option("--restarts", options.restarts,
                  "so many fits with seeds S, S + 1, ..., on --threads; the best is kept")
      ->type_name("R")
      ->capture_default_str();
  command.add_flag("--background", to.background,
                   "one more component that is always on, reported apart");
}

void add_how(CLI::App& command, FitOptions& options) {
  Config& to = options.settings;
  command.add_option("--method", options.method, "one pass, or EM on the whole record")
      ->type_name("online|batch")
      ->capture_default_str();
  command.add_option("--iterations", to.iterations, "batch: at most so many")
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option("--tolerance", to.tolerance,
                  "batch: stop when an iteration gains less than this, relative; 0: never")
      ->type_name("X")
      ->capture_default_str();
  options.engine.add_to(command);
  const std::string group = "Engine";
  command
      .add_option("--smoother", options.smoother,
                  "lag: by a window of later observations; forward: exact: all statistics carried "
                  "forward, an M-step each observation, particle: all backward weights, N^2; "
                  "paris: a few backward draws; path: Algorithm 1; auto: lag")
      ->type_name("auto|path|forward|paris|lag")
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--lag", to.lag,
                  "later observations in the window; 0: exact: as the tolerance asks, particle: 5 "
                  "for lag, 50 for paris, 20 for forward")
      ->type_name("L")
      ->capture_default_str()
      ->group(group);
  command.add_option("--backward", options.backward, "how smoother paris draws")
      ->type_name("mcmc|rejection|exact")
      ->capture_default_str()
      ->group(group);
  command.add_option("--backward-draws", to.backward_draws, "how often, for each particle")
      ->type_name("N")
      ->capture_default_str()
      ->group(group);
  command
      .add_option(
          "--window-tolerance", to.window_tolerance,
          "how much of a difference in the state may survive the lag (which is at most 200)")
      ->type_name("X")
      ->capture_default_str();
  command
      .add_option("--block", to.block, "observations between M-steps; 0: from 16 at first to 64")
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option(
          "--scale-in", options.scale_in,
          "where the scale of unbounded activations is learned: in the columns of the basis, "
          "or in the prior while the columns keep their sums; auto: prior, where there are "
          "counts enough")
      ->type_name("auto|basis|prior")
      ->capture_default_str();
  command.add_flag("--paper-exact", to.paper_exact,
                   "statistics and M-step exactly as the paper prints them: no weak priors, floors "
                   "or window");
}

void add_weak_priors(CLI::App& command, FitOptions& options) {
  MStepOptions& to = options.settings.m_step;
  const std::string group = "Weak priors (as much as so many observations)";
  command.add_option("--basis-shape", to.basis_shape, "Gamma prior on the basis: shape")
      ->type_name("X")
      ->default_str("1.000001")
      ->group(group);
  command
      .add_option("--basis-rate", to.basis_rate,
                  "Gamma prior on the basis: rate, times the mean entry")
      ->type_name("X")
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--basis-floor", to.basis_floor, "smallest entry of the basis over their mean")
      ->type_name("X")
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--transition-weight", to.transition_weight,
                  "Beta (Dirichlet) prior on transitions: 1 + this")
      ->type_name("X")
      ->capture_default_str()
      ->group(group);
}

void add_schedule(CLI::App& command, FitOptions& options) {
  command
      .add_option(
          "--step", options.step,
          "weight of observation t: t^-A, or constant G to follow a drift; auto: power:0.6; "
          "after an automatic start, whose observations weigh the same, power:0.7")
      ->type_name("auto|power:A|constant:G")
      ->capture_default_str()
      ->group("Schedule");
  command
      .add_option("--burn-in", options.settings.burn_in,
                  "observations before the first M-step; 0: 100, but with step auto those that an "
                  "automatic start was found from")
      ->type_name("T")
      ->capture_default_str()
      ->group("Schedule");
  command
      .add_option("--average", options.average,
                  "what to report: the last iterate, or their average; auto: the average, but "
                  "for constant steps the last")
      ->type_name("auto|none|polyak")
      ->capture_default_str()
      ->group("Schedule");
}

void add_run(CLI::App& command, FitOptions& options) {
  add_seed_option(command, options.settings.seed).group("Run");
  command
      .add_option("--trace-every", options.settings.trace_every,
                  "observations between rows of the trace; 0: so that there are 128 to 256")
      ->type_name("N")
      ->capture_default_str()
      ->group("Run");
  command.add_option("--log", options.log, "JSON lines, one an observation; - for standard output")
      ->type_name("FILE")
      ->group("Run");
  command
      .add_option("--activations", options.activations,
                  "CSV, a row of K numbers for each observation as it is taken in: E[x_t | data up "
                  "to t]; - for standard output")
      ->type_name("FILE")
      ->group("Run");
  command
      .add_flag(
          "--surprise", options.surprise,
          "add to --log and --activations: -log p(y_t | past), and how probable an observation "
          "at least as surprising was, uniform on (0, 1) where the model is right")
      ->group("Run");
  options.checkpoints.add_to(command);
  command
      .add_flag("--strict", options.settings.strict,
                "fail at an observation that no state, or no particle, could have given, instead "
                "of treating it as missing")
      ->group("Run");
  command.add_flag("--quiet", options.quiet, "no progress line, no summary")->group("Run");
  add_config_option(command)->group("Run");
}

}  // namespace

void FitOptions::add_to(CLI::App& command) {
  data.add_to(command);
  data.add_follow_to(command);
  command.add_option("--out", out, "model file (HDF5)")->required()->type_name("MODEL");
  add_what(command, *this);
  add_how(command, *this);
  add_weak_priors(command, *this);
  add_schedule(command, *this);
  add_run(command, *this);
}

Config FitOptions::config() const {
  Config config = settings;
  config.prior = prior.config();
  config.method = choose("method", method, method_choices());
  config.engine = engine.config();
  config.smoother = choose("smoother", smoother, smoother_choices());
  config.backward = choose("backward", backward, backward_choices());
  config.m_step.scale = choose("scale-in", scale_in, scale_choices());
  config.step_size = StepSize::parse(step);
  config.average = choose("average", average, average_choices());
  for (const std::string& name : hold) {
    if (name == "basis") {
      config.m_step.hold_basis = true;
    } else {
      config.m_step.held_parameters.push_back(name);
    }
  }
  config.validate();
  check_run(config);
  config.init = init == "random" ? Init::kRandom : Init::kAuto;
  if (init != "auto" && init != "random") config.initial_basis = read_start(config);
  return config;
}

void FitOptions::check_run(const Config& config) const {
  const bool is_batch = config.method == Method::kBatch;
  for (const auto& [option, file] : {std::pair{"--log", log}, {"--activations", activations}}) {
    if (file.empty()) continue;
    if (restarts > 1) {
      throw UsageError(fmt::format("{} follows one fit; it cannot go with --restarts", option));
    }
    if (is_batch) {
      throw UsageError(fmt::format(
          "{} has a line for each observation; --method batch takes all at once", option));
    }
  }
  if (log == "-" && activations == "-") {
    throw UsageError("only one of --log - and --activations - can go to standard output");
  }
  if (surprise && log.empty() && activations.empty()) {
    throw UsageError("--surprise adds to --log or --activations; name a file for one of them");
  }
  if (checkpoints.any() && is_batch) {
    throw UsageError("--method batch keeps the whole record; checkpoints are for online fits");
  }
  checkpoints.validate();
}

Matrix FitOptions::read_start(const Config& config) const {
  Matrix basis = read_matrix_file(init);
  const bool has_background = config.background && basis.cols() == config.num_components + 1;
  if (basis.cols() != config.num_components && !has_background) {
    throw InputError(fmt::format("{}: has {} columns; expected {}, one for each component", init,
                                 basis.cols(), config.num_components));
  }
  return basis;
}

void FitOptions::check_start(const Config& config, Index num_channels) const {
  const Matrix& basis = config.initial_basis;
  if (basis.size() > 0 && basis.rows() != num_channels) {
    throw InputError(fmt::format("{}: has {} rows; {} has {} channels", init, basis.rows(),
                                 data.name, num_channels));
  }
}
