#include "headwater/session/options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headwater/season.hpp"

namespace headwater {

namespace {

using namespace rows;

constexpr auto kModels = Recorded::kModels;
constexpr auto kCheckpoints = Recorded::kCheckpoints;

// A name, or a matrix that the faces bring along.
Option<Config> init_option() {
  Option<Config> row =
      choice({.name = "init",
              .help = "how the basis starts; auto: searches after 50, 200, ... observations, and a "
                      "last one after 1,000 to 4,000, fit several starts to the observations so "
                      "far, and the best start is taken; random: entries drawn at random and "
                      "scaled to the first 100 observations",
              .recorded = kModels},
             &Config::init, init_choices());
  row.kind = ChoiceOrTable{names_of(init_choices()), "an M x K basis (a file; in Python an array)"};
  row.get = [by_name = row.get](const Config& config) {
    return config.initial_basis.size() > 0 ? std::string("given") : by_name(config);
  };
  row.set_table = [](Config& config, const Matrix& basis) { config.initial_basis = basis; };
  return row;
}

// The basis is held like a parameter, by its name.
Option<MStepOptions> hold_option() {
  Option<MStepOptions> row =
      names({.name = "hold",
             .help = "a parameter that keeps its starting value; 'basis': the basis that init "
                     "gives; 'profile': all profiles of a season stay flat; 'channel_profile': "
                     "those of single channels do",
             .recorded = kModels},
            &MStepOptions::held_parameters, "the name of a parameter, or basis");
  row.get = [parameters = row.get](const MStepOptions& options) {
    std::string held = parameters(options);
    if (!options.hold_basis) return held;
    return held.empty() ? std::string("basis") : held + ",basis";
  };
  row.set = [parameter = row.set](MStepOptions& options, const std::string& name) {
    if (name != "basis") return parameter(options, name);
    options.hold_basis = true;
    return true;
  };
  return row;
}

Option<MStepOptions> scale_option() {
  return choice(
      {.name = "scale-in",
       .help = "where the scale of unbounded activations is learned; auto: in the columns of the "
               "basis and in the prior; basis: in the columns alone, which is slower",
       .recorded = kModels},
      &MStepOptions::scale, scale_choices());
}

OptionTable<MStepOptions> weak_prior_options() {
  return {
      real_number(
          {.name = "basis-shape",
           .help =
               "shape of the Gamma prior on the entries of the basis; if basis-shape and "
               "basis-rate have their defaults, the search for a start may choose a stronger prior",
           .recorded = kModels},
          &MStepOptions::basis_shape, closed(1, 1e6)),
      real_number({.name = "basis-rate",
                   .help = "rate of the Gamma prior on the entries of the basis, as a multiple of "
                           "1 / the channel's mean entry",
                   .recorded = kModels},
                  &MStepOptions::basis_rate, closed(0, 1e6)),
      real_number({.name = "basis-floor",
                   .help = "smallest entry of the basis, as a fraction of the channel's mean entry",
                   .recorded = kModels},
                  &MStepOptions::basis_floor, half_open(0, 1)),
      real_number({.name = "transition-weight",
                   .help = "the Beta or Dirichlet prior on the transitions of a finite prior has "
                           "all its parameters equal to 1 plus this",
                   .recorded = kModels},
                  &MStepOptions::transition_weight, closed(0, 1e6)),
  };
}

// Repeated in the shell; a number, a text or a list of them in Python.
Option<SeasonConfig> period_option() {
  return make_row<SeasonConfig>(
      {.name = "period",
       .value_name = "P",
       .help = "length of a season in observations, or with time-column as a duration: 24h, 7d; "
               "each component learns a profile of P gains, and each channel further gains if "
               "these predict better; may be given several times: profiles multiply; auto: the "
               "search for a start looks for periods",
       .recorded = kModels},
      NameList{"a number of observations from 2 to 100000, a duration such as 24h, or auto"},
      [](const SeasonConfig& season) {
        std::vector<std::string> texts;
        for (const Period& period : season.periods) texts.push_back(period.text());
        return fmt::format("{}", fmt::join(texts, ","));
      },
      [](SeasonConfig& season, const std::string& text) {
        if (text.empty()) return false;
        season.periods.push_back(Period::parse(text));
        return true;
      },
      [](const SeasonConfig& season) {
        return std::ssize(season.periods) <= kMostPeriods &&
               std::ranges::all_of(season.periods, [](const Period& period) {
                 return period.is_auto() || period.seconds > 0 ||
                        (period.steps >= 2 && period.steps <= kLongestPeriod);
               });
      });
}

OptionTable<Config> model_options() {
  return {
      whole_number({.name = "components",
                    .value_name = "K",
                    .help = "number of components, the sources to be found",
                    .python_name = "num_components",
                    .is_required = true,
                    .recorded = kCheckpoints},
                   &Config::num_components, 1, kMostComponents),
      within(&Config::prior, *find_by_name(prior_options(), "prior")),
      within(&Config::counts, *find_by_name(counts_options(), "counts")),
      within(&Config::counts, *find_by_name(counts_options(), "dispersion")),
      within(&Config::season, season_options()[0]),
      within(&Config::season, season_options()[1]),
      init_option(),
      whole_number({.name = "start-on",
                    .value_name = "N",
                    .help = "the search for a start uses at most the first N observations; 0: as "
                            "many as it needs, see init",
                    .recorded = kModels},
                   &Config::start_on, 0, kMostObservations),
      within(&Config::prior, *find_by_name(prior_options(), "per-component")),
      within(&Config::m_step, hold_option()),
      flag({.name = "background",
            .help = "add a component that is always on; it is reported apart from the others",
            .recorded = kModels},
           &Config::background),
  };
}

OptionTable<Config> method_options() {
  return {choice(
      {.name = "method",
       .help = "how EM runs; online: one pass over the stream; batch: iterations over the whole "
               "record, which is kept in memory",
       .recorded = kModels},
      &Config::method, method_choices())};
}

OptionTable<Config> smoothing_options() {
  return {
      choice({.name = "backward",
              .help = "how smoother paris draws from the backward kernel",
              .recorded = kModels},
             &Config::backward, backward_choices()),
      whole_number({.name = "backward-draws",
                    .help = "backward draws of smoother paris for each particle",
                    .recorded = kModels},
                   &Config::backward_draws, 1, 1000),
      choice({.name = "smoother",
              .help = "how the statistics of the E-step are smoothed; lag: by a window of later "
                      "observations; forward: engine exact carries all statistics forward and "
                      "makes an M-step at each observation, engine particle uses all backward "
                      "weights, at a cost of N^2; paris: a few backward draws for each particle; "
                      "path: the particles' genealogies, Algorithm 1 of the paper; auto: lag",
              .recorded = kModels},
             &Config::smoother, smoother_choices()),
      whole_number({.name = "lag",
                    .value_name = "L",
                    .help = "number of later observations in the smoother's window; 0: for engine "
                            "exact, as window-tolerance says; for engine particle, 5 with smoother "
                            "lag, 50 with paris, 20 with forward",
                    .recorded = kModels},
                   &Config::lag, 0, 1'000'000),
      real_number(
          {.name = "window-tolerance",
           .help = "with lag 0 and engine exact, the window is so long that at most this fraction "
                   "of a difference in the state survives it; at most 200 observations",
           .recorded = kModels},
          &Config::window_tolerance, open(0, 1)),
      whole_number({.name = "block",
                    .help = "observations between two M-steps; 0: a 32nd of those so far, at least "
                            "16 (1 if levels drift) and at most 64",
                    .recorded = kModels},
                   &Config::block, 0, 1'000'000),
      flag({.name = "paper-exact",
            .help = "statistics and M-step exactly as the paper prints them: no weak priors, no "
                    "floors, no window",
            .recorded = kModels},
           &Config::paper_exact),
      within(&Config::m_step, scale_option()),
  };
}

OptionTable<Config> schedule_options() {
  return {
      whole_number({.name = "round",
                    .value_name = "G",
                    .help = "fit by rounds, for data of many sequences: G sequences are filtered "
                            "and smoothed from the same parameters, on all threads, and one M-step "
                            "follows; 0: no rounds, M-steps as block says",
                    .recorded = kModels},
                   &Config::round, 0, 1'000'000),
      parsed(
          {.name = "step",
           .value_name = "auto|power:A|constant:G",
           .help = "weight of observation t in the running averages; power:A: t^-A, with A in "
                   "(0.5, 1]; constant:G: G, or t^-0.6 while that is larger, with G in (0, 1), for "
                   "a basis that changes; auto: power:0.7, or after a random start, or a given one "
                   "with unbounded activations, power:0.6",
           .recorded = kModels},
          &Config::step_size, "auto, power:A or constant:G"),
      whole_number({.name = "burn-in",
                    .value_name = "T",
                    .help = "observations before the first M-step; 0: 100, or after an automatic "
                            "start as many as its search used",
                    .recorded = kModels},
                   &Config::burn_in, 0, kMostObservations),
      choice({.name = "average",
              .help = "what is reported; none: the last iterate; polyak: the average of the "
                      "iterates; auto: polyak, but none for a constant step",
              .recorded = kModels},
             &Config::average, average_choices()),
  };
}

OptionTable<Config> batch_options() {
  return {
      whole_number(
          {.name = "iterations", .help = "most iterations of method batch", .recorded = kModels},
          &Config::iterations, 1, 1'000'000'000),
      real_number({.name = "tolerance",
                   .help = "method batch stops when an iteration improves the log-likelihood by "
                           "less than this fraction; 0: it runs all iterations",
                   .recorded = kModels},
                  &Config::tolerance, half_open(0, 1)),
  };
}

OptionTable<Config> run_options() {
  return {
      whole_number(
          {.name = "restarts",
           .value_name = "R",
           .help = "number of fits, with seeds S, S + 1 and so on; they share the threads, "
                   "and the fit with the largest log-likelihood is kept"},
          &Config::restarts, 1, 1000),
      seed_option(&Config::seed),
      choice({.name = "outliers",
              .help = "what happens to an observation with a count that is ten times the largest "
                      "so far in its channel and practically impossible under the law of the "
                      "counts; skip: it is treated as missing and counted, except the fifth in a "
                      "row and those after it; keep: it is learned from",
              .recorded = kModels},
             &Config::outliers, outlier_choices()),
      flag({.name = "standard-errors",
            .help = "add standard errors of the basis, of the prior's parameters and of the "
                    "dispersion to the model",
            .recorded = kModels},
           &Config::standard_errors),
      flag({.name = "strict",
            .help = "stop with an error at an observation that is impossible under the current "
                    "parameters, instead of treating it as missing",
            .recorded = kCheckpoints},
           &Config::strict),
      whole_number(
          {.name = "trace-every",
           .help =
               "observations (method batch: iterations) between two rows of the trace; 0: every "
               "iteration of method batch; for a stream, as many as lead to 128 to 256 rows",
           .recorded = kCheckpoints},
          &Config::trace_every, 0, kMostObservations),
  };
}

}  // namespace

const OptionTable<PriorConfig>& prior_options() {
  static const OptionTable<PriorConfig> table = for_python_too(in_group<PriorConfig>(
      "Model",
      {text({.name = "prior",
             .value_name = "NAME",
             .help = "the prior: the law of the activations, by its name in the list of priors; "
                     "auto (fit): the prior that best predicts held-out observations in the search "
                     "for a start, each with the law of the counts that suits it",
             .is_required = true,
             .recorded = kCheckpoints},
            &PriorConfig::name, "the name of a prior"),
       flag({.name = "per-component",
             .help = "each component has its own parameters of the prior; otherwise all share them",
             .recorded = kModels},
            &PriorConfig::per_component)}));
  return table;
}

const OptionTable<CountsConfig>& counts_options() {
  static const OptionTable<CountsConfig> table = for_python_too(in_group<CountsConfig>(
      "Model",
      {choice({.name = "counts",
               .help = "law of the counts around their means; poisson: the variance is the mean; "
                       "negative-binomial: the variance is mean + dispersion mean^2; drifting: "
                       "each channel also has a level that drifts around 1; hurdle: for counts "
                       "that are mostly 0 or 1: 0 is as frequent as under poisson, and numbers "
                       "above 1 are rarer; drifting-hurdle: hurdle, and each channel has a level "
                       "that drifts around 1; auto: the law that best predicts held-out "
                       "observations in the search for a start, or poisson without a search",
               .recorded = kModels},
              &CountsConfig::law, law_choices()),
       choice({.name = "dispersion",
               .help = "channel: each channel has its own dispersion (and excess); shared: all "
                       "channels share one",
               .recorded = kModels},
              &CountsConfig::dispersion, dispersion_choices())}));
  return table;
}

const OptionTable<SeasonConfig>& season_options() {
  static const OptionTable<SeasonConfig> table = for_python_too(in_group<SeasonConfig>(
      "Model", {period_option(),
                whole_number({.name = "phase",
                              .value_name = "N",
                              .help = "phase of the first observation in its period, from 0",
                              .recorded = kModels},
                             &SeasonConfig::phase, 0, kMostObservations)}));
  return table;
}

const OptionTable<EngineConfig>& engine_options() {
  static const OptionTable<EngineConfig> table = for_python_too(in_group<EngineConfig>(
      "Engine",
      {choice(
           {.name = "engine",
            .help = "how the E-step is done; exact: all states of a finite prior; beam: the most "
                    "probable states of a large finite prior; particle: sequential Monte Carlo, "
                    "for any prior; fast: a normal or gamma approximation, for the priors "
                    "log-gaussian, gamma and independent, biased; auto: by the prior and the "
                    "size of the basis",
            .recorded = kModels},
           &EngineConfig::kind, engine_choices()),
       choice({.name = "proposal",
               .help = "how particles move; prior: by the prior alone; guided: by the prior and "
                       "the observation; auto: guided if there are many channels and components, "
                       "or as soon as too few particles carry the weight",
               .recorded = kModels},
              &EngineConfig::proposal, proposal_choices()),
       whole_number({.name = "particles",
                     .help = "number of particles of engine particle",
                     .python_name = "num_particles",
                     .recorded = kModels},
                    &EngineConfig::num_particles, 1, 1 << 24),
       whole_number({.name = "beam-width",
                     .help = "number of states that engine beam keeps",
                     .recorded = kModels},
                    &EngineConfig::beam_width, 1, 1'000'000),
       choice({.name = "resampling",
               .help = "how particles are drawn anew in proportion to their weights",
               .recorded = kModels},
              &EngineConfig::resampling, resampling_choices()),
       real_number({.name = "resample-below",
                    .value_name = "F",
                    .help = "resample when the effective number of particles is below F times "
                            "their number; 1 or more: at every observation",
                    .recorded = kModels},
                   &EngineConfig::resample_below, closed(0, 1e6)),
       whole_number({.name = "threads",
                     .help = "number of threads; the result does not depend on it",
                     .python_name = "num_threads"},
                    &EngineConfig::num_threads, 1, 1024)}));
  return table;
}

const OptionTable<Config>& config_options() {
  static const OptionTable<Config> table = for_python_too(joined<Config>({
      in_group("Model", model_options()),
      in_group("Method", method_options()),
      within(&Config::engine, engine_options()),
      in_group("Smoother and M-step", smoothing_options()),
      in_group("Schedule of online EM", schedule_options()),
      in_group("Batch EM", batch_options()),
      within(&Config::m_step, in_group("Weak priors of the M-step", weak_prior_options())),
      in_group("Run", run_options()),
  }));
  return table;
}

}  // namespace headwater
