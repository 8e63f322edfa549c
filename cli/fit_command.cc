#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <new>
#include <optional>
#include <vector>

#include "choice_table.hpp"
#include "commands.hpp"
#include "fit_options.hpp"
#include "headwater/error.hpp"
#include "headwater/inference.hpp"
#include "headwater/io/channel_names.hpp"
#include "headwater/learning/automatic_start.hpp"
#include "headwater/learning/expectation_choice.hpp"
#include "headwater/registry.hpp"
#include "headwater/reports.hpp"
#include "headwater/session/engine_cost.hpp"
#include "headwater/session/own_rows.hpp"
#include "headwater/session/quality.hpp"
#include "headwater/session/trace.hpp"
#include "live_outputs.hpp"
#include "live_view.hpp"
#include "model_and_data.hpp"
#include "option_rows.hpp"
#include "progress.hpp"
#include "stop_signals.hpp"
#include "words.hpp"

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

// Advice for a low effective sample size. Guided particles are advised only against what was asked
// for: --proposal auto has them where they can help.
std::string low_size_advice(const Model& model) {
  const bool was_asked_for =
      std::ranges::any_of(model.options, [](const std::pair<std::string, std::string>& option) {
        return option == std::pair<std::string, std::string>("proposal", "prior");
      });
  if (was_asked_for && model.reported.prior.is_guided()) {
    return "--proposal guided, or more --particles";
  }
  return "more --particles, or fewer --components";
}

void print_particles(const Model& model) {
  if (!model.proposal) return;
  const std::string moved =
      model.proposal == ProposalKind::kGuided ? "guided by the observations" : "by the prior";
  say("particles moved {}", moved);
  if (model.method == Method::kOnline) {
    say("; {:.2g} % of them carried the weight", 100 * model.effective_part);
  }
  say("\n");
  if (model.method == Method::kOnline && model.effective_part < ParticleHealth::kLowPart) {
    say("that is too few to rely on: use {}\n", low_size_advice(model));
  }
}

// Of what came after the model that is continued, if there is one, and of all.
void print_log_likelihood(const Model& model, const Model* before) {
  const auto print = [](const char* of, double sum, std::int64_t count) {
    say("log-likelihood{} {:.2f} ({:.4f} an observation)\n", of, sum,
        sum / static_cast<double>(count));
  };
  if (before != nullptr && model.observations > before->observations) {
    print(" of the new observations", model.log_likelihood - before->log_likelihood,
          model.observations - before->observations);
  }
  print(before != nullptr ? " of all" : "", model.log_likelihood, model.observations);
}

// before: the model that is continued, if there is one. notes: see quality_notes().
void print_summary(const Model& model, const Model* before, const StartReport& start,
                   const std::vector<std::string>& notes, double seconds) {
  const std::int64_t new_ones = model.observations - (before ? before->observations : 0);
  const auto count = static_cast<double>(new_ones);
  const bool is_batch = model.method == Method::kBatch;
  say("{} observations of {} channels in {:.1f} s ({} {}/s)\n", with_commas(new_ones),
      model.num_channels(), seconds,
      rounded_rate((is_batch ? static_cast<double>(model.iterations) : count) / seconds),
      is_batch ? "iterations" : "observations");
  if (before != nullptr) {
    say("{} observations with those of the continued model\n", with_commas(model.observations));
  }
  if (!start.chosen.empty()) {
    const std::size_t trials = start.trials.size();
    const std::string among = trials > 1 ? fmt::format(", the best of {} trials", trials) : "";
    say("start: {}{} on the first observations\n", start.chosen, among);
  }
  for (const StartReport::PeriodChoice& period : start.periods) {
    say("period {}: the mean of each phase predicts held-out observations better than one mean, by "
        "{:.3g} nats an observation (standard error {:.2g})\n",
        period.period, period.gain, period.standard_error);
  }
  if (start.looked_for_periods && start.periods.empty()) {
    say("no period was found in the first observations\n");
  }
  if (!start.priors.empty()) write_words(choice_text(start.priors));
  for (const StartReport::LawChoice& law : start.laws) {
    const char* const how = law.richer == law.chosen ? "better"
                            : law.gain > 0           ? "not clearly better"
                                                     : "worse";
    say("counts {}: {} predicts held-out observations {}, by {:.3g} nats an observation (standard "
        "error {:.2g})\n",
        law.chosen, law.richer, how, std::abs(law.gain), law.standard_error);
  }
  if (start.too_few_for_laws) {
    say("counts {}: too few observations, or too few counts in them, to compare it with the "
        "Poisson "
        "law\n",
        model.last.law->name());
  }
  if (start.widened_after > 0) {
    say("counts {} after {} observations: under the law before, predictions had fallen far behind "
        "a running mean of each channel\n",
        model.last.law->name(), with_commas(start.widened_after));
  }
  if (const StartReport::BasisPrior& prior = start.basis_prior; prior.counts > 0) {
    const std::string reason =
        prior.gain > 0 && prior.counts != kUsualExpectation
            ? fmt::format(
                  ": this predicts held-out observations better than {:g} counts, by {:.3g} "
                  "nats an observation (standard error {:.2g})",
                  kUsualExpectation, prior.gain, prior.standard_error)
            : "";
    say("entries of the basis are drawn towards the averages of their channel and column with a "
        "weight of {:g} counts{}\n",
        prior.counts, reason);
  }
  if (const StartReport::MemoryChoice& memory = start.memory; memory.standard_error > 0) {
    say("{} steps after the start: small steps, which forget less, predict held-out observations "
        "{}, by {:.3g} nats an observation (standard error {:.2g})\n",
        memory.is_long ? "small" : "large", memory.gain < 0 ? "worse" : "better",
        std::abs(memory.gain), memory.standard_error);
  }
  if (!model.engine_reason.empty()) {
    say("engine {}: {}\n", to_string(model.engine), model.engine_reason);
  }
  if (model.engine == EngineKind::kBeam && !is_batch) {
    say("the beam dropped states with {:.2g} of the probability{}\n", model.lost_mass,
        model.lost_mass > kMuchLostMass ? "; a larger --beam-width keeps more" : "");
  }
  print_log_likelihood(model, before);
  if (model.observations_after_start > 0 && model.observations_after_start < model.observations) {
    say("{:.4f} an observation over the {} observations after the start\n",
        model.log_likelihood_after_start / static_cast<double>(model.observations_after_start),
        with_commas(model.observations_after_start));
  }
  print_particles(model);
  for (const Parameter& parameter : model.reported.prior.parameters()) {
    say("{}\n", parameter_text(parameter));
  }
  if (is_batch) {
    say("{} {} iterations\n", model.converged ? "converged after" : "stopped at the limit of",
        model.iterations);
  } else if (model.has_hardly_moved()) {
    say("only {} M-steps in so short a stream; --method batch learns more from it\n",
        model.iterations);
  }
  if (model.revivals > 0) {
    say("components that were idle, or equal to another, were given a new column {} times\n",
        model.revivals);
  }
  if (model.outliers > 0) {
    say("outliers: {} observations (the first: {}) were treated as missing, since a count was ten "
        "times the largest before it and practically impossible; --outliers keep learns from "
        "them\n",
        with_commas(model.outliers), with_commas(model.first_outlier));
  }
  if (model.impossible_observations > 0) {
    say("{} observations were impossible under the parameters at their time and were treated as "
        "missing\n",
        with_commas(model.impossible_observations));
  }
  for (const std::string& note : notes) say("warning: {}\n", note);
}

// Prints all fits with their log-likelihoods, if there are several.
void print_restarts(const Restarts& restarts, const Model& model) {
  if (restarts.choice() != nullptr) {
    write_words(choice_text(restarts.choice()->table()));
    return;
  }
  if (restarts.size() == 1) return;
  const Index best = restarts.best();
  for (Index i = 0; i < restarts.size(); ++i) {
    const Session& session = restarts.session(i);
    say("seed {}: log-likelihood {:.2f} since its last start{}\n", session.config().seed,
        merit(session), i == best ? ", the best, which is kept" : "");
  }
  write_words(stability_text(model.stability));
}

void print_stop(const FitOptions& options, std::int64_t observations) {
  say("stopped by {} after {} observations\n", stop_signal_name(), with_commas(observations));
  if (options.checkpoints.file.empty()) return;
  say("the same command with --resume {} continues from here\n", options.checkpoints.file);
}

void show_progress(Session& session, Progress& progress, LiveView& view) {
  report_iterations(session, progress);
  session.on_search([&progress, &view](std::int64_t done, std::int64_t all) {
    view.idle();
    progress.show(done, fmt::format("of {} trials for a start", all).c_str(), std::nullopt);
  });
}

// Before the first observation: it may take long.
void print_slowness(const Restarts& restarts, Index num_channels, bool quiet) {
  const bool is_choice = restarts.choice() != nullptr;
  std::vector<Config> fits;
  for (Index i = 0; i < restarts.size(); ++i) {
    const Config& config = restarts.session(i).config();
    fits.push_back(config);
    if (i > 0 && !is_choice) continue;
    // Of several to choose from the first one: others that cost too much are not tried.
    const AnyPrior prior = make_priors(config.num_components, config.prior).front();
    check_cost(config, prior, num_channels);
    const std::optional<std::string> line = slowness(config, prior, num_channels);
    if (!line || quiet) continue;
    say("{}{}\n", is_choice ? fmt::format("{} components: ", config.num_components) : "", *line);
  }
  if (fits.size() < 2) return;
  check_cost_together(fits, num_channels);
  if (const auto line = slowness_together(fits, num_channels); line && !quiet) say("{}\n", *line);
}

void tell_of_replacement(const DataStream& data, std::int64_t& num_told, bool quiet) {
  if (data.num_replaced() == num_told) return;
  num_told = data.num_replaced();
  if (!quiet) say("{}: another file now has this name; reading goes on with it\n", data.name());
}

// What of the fit needs all rows of the basis on every rank; empty if nothing does.
std::string needs_all_rows(const FitOptions& options, const Restarts& restarts,
                           Index num_channels) {
  const std::pair<bool, const char*> asked[] = {
      {restarts.choice() != nullptr, "--components A..B"},
      {restarts.size() > 1, "--restarts"},
      {!options.checkpoints.file.empty(), "--checkpoint"},
      {!options.checkpoints.resume.empty(), "--resume"},
      {!options.model_name().empty(), "a model to go on from"},
      {options.surprise, "--surprise"},
      {!options.serve.empty(), "--serve"},
      {!options.metrics.empty(), "--metrics"}};
  for (const auto& [is_asked, name] : asked) {
    if (is_asked) return name;
  }
  return needs_all_rows(restarts.session(0).config(), num_channels);
}

// Whether ranks keep the rows of their own channels alone. A small basis is no matter, and a rank
// without channels would have no row at all.
bool keep_own_rows(const FitOptions& options, const Restarts& restarts, SharedChannels* shared) {
  if (shared == nullptr) return false;
  const int size = shared->ranks().size();
  const Index entries = shared->num_channels() * restarts.session(0).config().num_components;
  if (size == 1 || shared->num_at_work() < size || entries <= kLargestTracedBasis) return false;
  const std::string reason = needs_all_rows(options, restarts, shared->num_channels());
  if (reason.empty()) {
    shared->keep_own_rows();
  } else if (!options.quiet) {
    say("every rank keeps all {} channels, since {} needs them\n",
        with_commas(shared->num_channels()), reason);
  }
  return reason.empty();
}

// Gives the data to the fit, to their end or until a stop is requested.
void take_in(DataStream& data, FitCheckpoints& checkpoints, LiveView& view, bool quiet) {
  std::int64_t num_told = 0;
  while (!is_stop_requested() && data.next()) {
    tell_of_replacement(data, num_told, quiet);
    view.add_row();
    checkpoints.update();
    view.set_checkpoint(checkpoints.num_written(), checkpoints.written());
  }
}

[[noreturn]] void refuse_no_observations(const DataStream& data, const CheckpointOptions& options) {
  if (stop_signal() != 0) {
    throw InputError(fmt::format("{}: stopped by {} before the first observation", data.name(),
                                 stop_signal_name()));
  }
  throw InputError(fmt::format(
      "{}: there are no observations: {} were skipped, and {} rows could not be read", data.name(),
      with_commas(options.skip.value_or(0)), with_commas(data.num_bad_rows())));
}

void take_in_and_finish(const FitOptions& options, DataStream& data, FitCheckpoints& checkpoints,
                        LiveView& view, Restarts& restarts) {
  bool is_bad_row = false;
  try {
    try {
      take_in(data, checkpoints, view, options.quiet);
    } catch (const BadRow&) {
      is_bad_row = true;
      throw;
    }
    if (checkpoints.observations() == 0) refuse_no_observations(data, options.checkpoints);
    checkpoints.put_away();
    restarts.finish();
    checkpoints.add_sent();
  } catch (const UsageError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw InputError("out of memory" + checkpoints.put_away_after_error(false));
  } catch (const std::exception& error) {
    throw InputError(error.what() + checkpoints.put_away_after_error(is_bad_row));
  }
}

// Periods that are durations need to know how far apart rows are.
void tell_of_time(const Config& config, DataStream& data, Restarts& restarts) {
  const bool is_asked = std::ranges::any_of(
      config.season.periods, [](const Period& period) { return period.seconds > 0; });
  if (!is_asked) return;
  const std::optional<double> seconds = data.seconds_a_row();
  for (Index i = 0; seconds && i < restarts.size(); ++i) {
    restarts.session(i).set_seconds_a_row(*seconds);
  }
}

// The names of the data's channels, or those that the fit has already; the data follow these.
void take_names(const FitOptions& options, DataStream& data, Restarts& restarts) {
  const std::vector<std::string> earlier = restarts.session(0).names();
  const std::string& resumed = options.checkpoints.resume;
  match_names(data, earlier, resumed.empty() ? options.model_name() : resumed, options.quiet);
  if (!earlier.empty()) return;
  const std::vector<std::string> names = data.channel_names();
  check_names(names, data.num_channels(), data.name());
  restarts.set_names(names);
  const std::string repeated = repeated_name(names);
  if (repeated.empty() || options.quiet) return;
  say("{}: two channels are called {}; only their order tells them apart\n", data.name(), repeated);
}

void fit(FitOptions options) {
  const std::optional<Model> before = options.read_continued();
  const Config config = options.config(before);
  options.ranks.check(options.data, config.engine);
  options.check_files();
  options.settings = config;
  Restarts restarts = options.start(config, before);
  FitCheckpoints checkpoints(options.checkpoints, restarts);
  std::optional<StopDeadline> deadline;
  if (config.method == Method::kOnline) {
    watch_for_stop_signals();
    // The first rank ends them all.
    if (is_first_rank()) {
      deadline.emplace([&checkpoints] { checkpoints.end_program(); },
                       [&checkpoints] { checkpoints.write_what_is_ready(); });
    }
  }
  LiveView view(is_first_rank() ? options.serve : "", options.metrics, options.data.name,
                options.quiet);
  view.watch(restarts.session(0), 0, {});
  const auto wait = [&view] {
    view.idle();
    return stop_signal() != 0;
  };
  DataStream data(options.data, wait, checkpoints.pipe_before());
  if (data.num_channels() > 0) {
    options.check_start(config, data.num_channels());
    take_names(options, data, restarts);
    if (!before) print_slowness(restarts, data.num_channels(), options.quiet);
  }
  const auto shared = options.ranks.share(data, options.quiet);
  const bool has_own_rows = keep_own_rows(options, restarts, shared.get());
  if (has_own_rows) data.share(*shared);
  options.ranks.share_rounds(restarts);
  tell_of_time(config, data, restarts);
  view.watch(restarts.session(0), data.num_channels(), data.channel_names());
  ModelFile file(options.out);
  checkpoints.skip(data);
  // Only now, when everything else has been checked, are files cut back.
  LiveOutputs outputs(options, data, checkpoints.resumed());
  checkpoints.watch(data, outputs);

  // With several restarts, the output files follow the first fit.
  Session& session = restarts.session(0);
  Progress progress(options.quiet);
  session.keep_predictions(options.surprise);
  restarts.on_step([&](const StepReport& report) {
    outputs.write(report, session);
    view.add(report, data);
    const bool is_low = session.particle_health().is_low_now();
    progress.show(report.t, is_low ? "observations (too few particles)" : "observations",
                  data.fraction_read());
  });
  show_progress(session, progress, view);
  data.on_bad_row([&](const std::string& message) {
    view.add_bad_row();
    outputs.write_bad_row(message);
  });
  take_in_and_finish(options, data, checkpoints, view, restarts);
  if (deadline) deadline->lift();
  if (has_own_rows && !is_first_rank()) return;  // the first one has the model
  const Session& best = restarts.session(restarts.best());
  const Model model = restarts.model();
  file.write(model);
  view.finish();
  progress.clear();
  if (options.quiet) return;
  if (stop_signal() != 0) print_stop(options, model.observations);
  print_restarts(restarts, model);
  print_summary(model, before ? &*before : nullptr, best.start_report(), quality_notes(model),
                progress.seconds());
  const auto line = unshared_steps(best.config(), model.reported.prior, model.num_channels());
  if (line) say("{}\n", *line);
  if (config.round > 0 && data.num_sequences() == 1) {
    say("the data are one sequence, so there is only one round; --sequence-column says where "
        "sequences begin\n");
  }
  say("wrote {}: headwater show {} prints it\n", options.out, options.out);
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
