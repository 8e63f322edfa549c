#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <memory>
#include <optional>

#include "commands.hpp"
#include "fit_options.hpp"
#include "headwater/inference.hpp"
#include "headwater/learning/automatic_start.hpp"
#include "headwater/learning/online_em.hpp"
#include "headwater/registry.hpp"
#include "headwater/reports.hpp"
#include "headwater/session/engine_cost.hpp"
#include "model_and_data.hpp"
#include "option_rows.hpp"
#include "progress.hpp"
#include "step_log.hpp"
#include "stop_signals.hpp"

namespace {

using namespace headwater;

void report_iterations(Session& session, Progress& progress) {
  const auto all = static_cast<double>(session.config().iterations);
  session.on_iteration([&progress, all](std::int64_t iteration, double, const Estimate&) {
    progress.show(iteration, "iterations", static_cast<double>(iteration) / all);
  });
}

// If the lost mass is larger than this, the beam is too narrow.
constexpr double kMuchLostMass = 0.01;

std::string parameter_text(const Parameter& parameter) {
  if (parameter.value.size() > 8) return parameter.name + " (see headwater show)";
  std::string text = parameter.name;
  for (const double value : parameter.value.reshaped<Eigen::RowMajor>())
    text += fmt::format(" {:.4f}", value);
  return text;
}

// Advice for a low effective sample size.
std::string low_size_advice(const Model& model) {
  if (model.proposal == ProposalKind::kPrior) return "--proposal guided, or more --particles";
  return "more --particles, or fewer --components";
}

void print_particles(const Model& model) {
  if (!model.proposal) return;
  const std::string moved =
      model.proposal == ProposalKind::kGuided ? "guided by the observations" : "by the prior";
  fmt::print(stderr, "particles moved {}", moved);
  if (model.method == Method::kOnline) {
    fmt::print(stderr, "; {:.2g} % of them carried the weight", 100 * model.effective_part);
  }
  fmt::print(stderr, "\n");
  if (model.method == Method::kOnline && model.effective_part < ParticleHealth::kLowPart) {
    fmt::print(stderr, "that is too few to rely on: use {}\n", low_size_advice(model));
  }
}

void print_summary(const Model& model, const StartReport& start, const std::string& out,
                   double seconds) {
  const auto count = static_cast<double>(model.observations);
  const bool is_batch = model.method == Method::kBatch;
  fmt::print(stderr, "{} observations of {} channels in {:.1f} s ({} {}/s)\n",
             with_commas(model.observations), model.num_channels(), seconds,
             rounded_rate((is_batch ? static_cast<double>(model.iterations) : count) / seconds),
             is_batch ? "iterations" : "observations");
  if (!start.chosen.empty()) {
    const std::size_t trials = start.trials.size();
    const std::string among = trials > 1 ? fmt::format(", the best of {} trials", trials) : "";
    fmt::print(stderr, "start: {}{} on the first observations\n", start.chosen, among);
  }
  if (!model.engine_reason.empty()) {
    fmt::print(stderr, "engine {}: {}\n", to_string(model.engine), model.engine_reason);
  }
  if (model.engine == EngineKind::kBeam && !is_batch) {
    fmt::print(stderr, "{:.2g} of the law was in states that the beam did not keep{}\n",
               model.lost_mass,
               model.lost_mass > kMuchLostMass ? "; a larger --beam-width keeps more" : "");
  }
  fmt::print(stderr, "log-likelihood {:.2f} ({:.4f} an observation)\n", model.log_likelihood,
             model.log_likelihood / count);
  print_particles(model);
  for (const Parameter& parameter : model.reported.prior.parameters()) {
    fmt::print(stderr, "{}\n", parameter_text(parameter));
  }
  if (is_batch) {
    fmt::print(stderr, "{} {} iterations\n",
               model.converged ? "converged after" : "stopped at the limit of", model.iterations);
  } else if (model.has_hardly_moved()) {
    fmt::print(stderr, "only {} M-steps in so short a stream; --method batch makes more of it\n",
               model.iterations);
  }
  if (model.revivals > 0) {
    fmt::print(stderr,
               "{} times a component that was dead or the same as another was given a new column\n",
               model.revivals);
  }
  if (model.impossible_observations > 0) {
    fmt::print(
        stderr,
        "{} observations were impossible under the parameters of their time and were treated "
        "as missing\n",
        with_commas(model.impossible_observations));
  }
  fmt::print(stderr, "wrote {}: headwater show {} prints it\n", out, out);
}

// Prints all fits with their log-likelihoods, if there are several.
void print_restarts(const Restarts& restarts) {
  if (restarts.size() == 1) return;
  const Index best = restarts.best();
  for (Index i = 0; i < restarts.size(); ++i) {
    const Session& session = restarts.session(i);
    fmt::print(stderr, "seed {}: log-likelihood {:.2f}{}\n", session.config().seed,
               session.log_likelihood(), i == best ? ", the best, is kept" : "");
  }
}

void print_stop(const FitOptions& options, std::int64_t observations) {
  fmt::print(stderr, "stopped by {} after {} observations\n",
             stop_signal() == SIGINT ? "SIGINT" : "SIGTERM", with_commas(observations));
  if (options.checkpoints.file.empty()) return;
  fmt::print(stderr, "the same command with --resume {} goes on from here\n",
             options.checkpoints.file);
}

// Before the first observation: it may take long.
void print_slowness(const Config& config, Index num_channels, bool quiet) {
  const AnyPrior prior = make_prior(config.num_components, config.prior);
  check_cost(config, prior, num_channels);
  const std::optional<std::string> line = slowness(config, prior, num_channels);
  if (line && !quiet) fmt::print(stderr, "{}\n", *line);
}

// The files that a fit writes while it runs.
class LiveOutputs {
 public:
  LiveOutputs(const FitOptions& options, const FitCheckpoints& checkpoints)
      : tail_probability_(options.settings.seed), with_surprise_(options.surprise) {
    if (!options.log.empty()) log_.emplace(checkpoints.open_lines(options.log));
    if (!options.activations.empty()) x_.emplace(checkpoints.open_lines(options.activations));
  }

  void write(const StepReport& report, const Session& session) {
    if (!log_ && !x_) return;
    const OnlineEm& learner = *session.learner();
    Surprise surprise;
    if (with_surprise_) {
      surprise = {-report.filter.log_predictive,
                  tail_probability_(session.prediction(), *report.observation)};
    }
    const Surprise* added = with_surprise_ ? &surprise : nullptr;
    if (log_) StepLog(*log_).write(report, session.engine().kind, learner.last(), added);
    if (x_) {
      const Index components = session.config().num_components;  // without the background
      write_activations(*x_, learner.filtered_activation().head(components), added);
    }
  }
  void write_bad_row(const std::string& message) {
    if (log_) StepLog(*log_).write_bad_row(message);
  }

  std::vector<const LineFile*> files() const {
    std::vector<const LineFile*> files;
    if (log_) files.push_back(&*log_);
    if (x_) files.push_back(&*x_);
    return files;
  }

 private:
  std::optional<LineFile> log_;
  std::optional<LineFile> x_;
  TailProbability tail_probability_;
  bool with_surprise_;
};

void fit(const FitOptions& options) {
  const Config config = options.config();
  Restarts restarts(config, config.restarts);
  FitCheckpoints checkpoints(options.checkpoints, restarts);
  if (config.method == Method::kOnline) watch_for_stop_signals();
  DataStream data(options.data, [] { return stop_signal() != 0; });
  options.check_start(config, data.num_channels());
  print_slowness(config, data.num_channels(), options.quiet);
  ModelFile file(options.out);
  LiveOutputs outputs(options, checkpoints);

  // With several restarts, the output files follow the first fit.
  Session& session = restarts.session(0);
  Progress progress(options.quiet);
  session.keep_predictions(options.surprise);
  session.on_step([&](const StepReport& report) {
    outputs.write(report, session);
    const bool is_low = session.particle_health().is_low_now();
    progress.show(report.t, is_low ? "observations (too few particles)" : "observations",
                  data.fraction_read());
  });
  report_iterations(session, progress);
  session.on_search([&](std::int64_t done, std::int64_t all) {
    progress.show(done, fmt::format("of {} trials for a start", all).c_str(), std::nullopt);
  });
  checkpoints.skip(data);
  data.on_bad_row([&](const std::string& message) { outputs.write_bad_row(message); });
  while (stop_signal() == 0 && data.next()) {
    restarts.update(data.observation());
    checkpoints.saw(data.observation(), outputs.files());
  }
  checkpoints.put_away(outputs.files());
  restarts.finish();
  const Session& best = restarts.session(restarts.best());
  const Model model = best.model();
  file.write(model);
  progress.clear();
  if (options.quiet) return;
  if (stop_signal() != 0) print_stop(options, model.observations);
  print_restarts(restarts);
  print_summary(model, best.start_report(), options.out, progress.seconds());
  report_bad_rows(data, options.quiet);
}

}  // namespace

void add_fit(CLI::App& app, Run& run) {
  auto options = std::make_shared<FitOptions>();
  CLI::App& command = *app.add_subcommand("fit", "learn the basis and the prior from a stream");
  add_options(command, FitOptions::table(), *options);
  command.footer(list_priors());
  command.callback([options, &run] { run = [options] { fit(*options); }; });
}
