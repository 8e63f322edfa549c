#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <optional>

#include "commands.hpp"
#include "fit_options.hpp"
#include "headwater/core/error.hpp"
#include "headwater/io/source.hpp"
#include "headwater/session/model_file.hpp"
#include "headwater/session/restarts.hpp"
#include "progress.hpp"
#include "step_log.hpp"

namespace {

using namespace headwater;

void report_iterations(Session& session, Progress& progress) {
  const auto all = static_cast<double>(session.config().iterations);
  session.on_iteration([&progress, all](std::int64_t iteration, double, const Estimate&) {
    progress.show(iteration, "iterations", static_cast<double>(iteration) / all);
  });
}

// Online EM has not settled after so few; it needs a longer stream.
constexpr std::int64_t kFewMSteps = 50;

std::string parameter_text(const Parameter& parameter) {
  if (parameter.value.size() > 8) return parameter.name + " (see headwater show)";
  std::string text = parameter.name;
  for (const double value : parameter.value.reshaped<Eigen::RowMajor>())
    text += fmt::format(" {:.4f}", value);
  return text;
}

void print_summary(const Model& model, const StartReport& start, const std::string& out,
                   double seconds) {
  const auto count = static_cast<double>(model.observations);
  const bool is_batch = model.method == "batch";
  fmt::print(stderr, "{} observations of {} channels in {:.1f} s ({} {}/s)\n",
             with_commas(model.observations), model.num_channels(), seconds,
             rounded_rate((is_batch ? static_cast<double>(model.iterations) : count) / seconds),
             is_batch ? "iterations" : "observations");
  if (!start.chosen.empty()) {
    const std::size_t trials = start.trials.size();
    const std::string among = trials > 1 ? fmt::format(", the best of {} trials", trials) : "";
    fmt::print(stderr, "start: {}{} on the first observations\n", start.chosen, among);
  }
  fmt::print(stderr, "log-likelihood {:.2f} ({:.4f} an observation)\n", model.log_likelihood,
             model.log_likelihood / count);
  for (const Parameter& parameter : model.reported.prior.parameters()) {
    fmt::print(stderr, "{}\n", parameter_text(parameter));
  }
  if (is_batch) {
    fmt::print(stderr, "{} {} iterations\n",
               model.converged ? "converged after" : "stopped at the limit of", model.iterations);
  } else if (model.iterations < kFewMSteps) {
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

// All fits with what they reached, where there was more than one.
void print_restarts(const Restarts& restarts) {
  if (restarts.size() == 1) return;
  const Index best = restarts.best();
  for (Index i = 0; i < restarts.size(); ++i) {
    const Session& session = restarts.session(i);
    fmt::print(stderr, "seed {}: log-likelihood {:.2f}{}\n", session.config().seed,
               session.log_likelihood(), i == best ? ", the best, is kept" : "");
  }
}

void fit(const FitOptions& options) {
  Restarts restarts(options.config(), options.restarts);
  const auto source = options.data.open();
  options.check_start(restarts.session(0).config(), source->num_channels());
  ModelFile file(options.out);
  std::optional<StepLog> log;
  if (!options.log.empty()) log.emplace(options.log);

  // The first fit is the one that is watched.
  Session& session = restarts.session(0);
  Progress progress(options.quiet);
  session.on_step([&](const StepReport& report) {
    if (log) log->write(report, session.learner()->last());
    progress.show(report.t, "observations", source->fraction_read());
  });
  report_iterations(session, progress);
  session.on_search([&](std::int64_t done, std::int64_t all) {
    progress.show(done, fmt::format("of {} trials for a start", all).c_str(), std::nullopt);
  });
  std::vector<double> y;
  while (source->next(y)) restarts.update(y);
  restarts.finish();
  const Session& best = restarts.session(restarts.best());
  const Model model = best.model();
  file.write(model);
  progress.clear();
  if (options.quiet) return;
  print_restarts(restarts);
  print_summary(model, best.start_report(), options.out, progress.seconds());
}

}  // namespace

void add_fit(CLI::App& app, Run& run) {
  auto options = std::make_shared<FitOptions>();
  CLI::App& command = *app.add_subcommand("fit", "learn the basis and the prior from a stream");
  options->add_to(command);
  command.callback([options, &run] { run = [options] { fit(*options); }; });
}
