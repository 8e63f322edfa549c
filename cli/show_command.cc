#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <numeric>

#include "choice_table.hpp"
#include "commands.hpp"
#include "hdf5_reader.hpp"
#include "headwater/error.hpp"
#include "headwater/io/text/json.hpp"
#include "headwater/matching.hpp"
#include "headwater/model.hpp"
#include "headwater/report/model_facts.hpp"
#include "option_rows.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "words.hpp"

namespace {

using namespace headwater;

struct ShowOptions {
  std::string model;
  bool json = false;
  bool basis = false;
  bool trace = false;
  bool last = false;
  bool profile = false;
  bool channel_profile = false;
  bool standard_errors = false;
  Index period = 0;
  std::string compare;
};

const Estimate& estimate_to_show(const ShowOptions& options, const Model& model) {
  return options.last ? model.last : model.reported;
}

template <class Row>
void print_row(const Row& row) {
  for (Index k = 0; k < row.size(); ++k) print_words("{}{:.17g}", k == 0 ? "" : ",", row[k]);
  print_words("\n");
}

const StandardErrors& errors_to_show(const ShowOptions& options, const Model& model) {
  if (model.standard_errors) return *model.standard_errors;
  throw InputError(
      fmt::format("{}: has no standard errors; expected a model of fit --standard-errors and a "
                  "stream that is long enough",
                  options.model));
}

void print_basis(const ShowOptions& options, const Model& model) {
  const Matrix basis =
      options.standard_errors
          ? Matrix(errors_to_show(options, model).robust.basis.leftCols(model.num_components()))
          : basis_of(estimate_to_show(options, model), model.background);
  for (Index m = 0; m < basis.rows(); ++m) print_row(basis.row(m));
}

// The profiles that are asked for, or their standard errors.
const std::vector<Matrix>& profiles_to_show(const ShowOptions& options, const Model& model,
                                            const Season& season) {
  if (options.channel_profile) return season.channel_profiles();
  if (!options.standard_errors || season.empty()) return season.profiles();
  const std::vector<Matrix>& errors = errors_to_show(options, model).robust.profiles;
  if (errors.size() == season.profiles().size() &&
      std::ranges::all_of(errors, [](const Matrix& of) { return of.size() > 0; })) {
    return errors;
  }
  throw InputError(
      fmt::format("{}: has no standard errors of its profiles; expected profiles that were "
                  "learned, periods of at most 400 steps, and a stream that is long enough",
                  options.model));
}

void print_profile(const ShowOptions& options, const Model& model) {
  const Season& season = estimate_to_show(options, model).season;
  const std::vector<Matrix>& profiles = profiles_to_show(options, model, season);
  if (options.channel_profile && profiles.empty() && !season.empty()) {
    throw InputError(
        fmt::format("{}: single channels have no gains of their own; all are 1", options.model));
  }
  std::vector<std::string> periods;
  periods.reserve(profiles.size());
  for (const Matrix& profile : profiles) periods.push_back(fmt::format("{}", profile.cols()));
  if (profiles.empty()) throw InputError(fmt::format("{}: has no period", options.model));
  if (profiles.size() > 1 && options.period == 0) {
    throw UsageError(fmt::format("{} has the periods {}; say which with --period", options.model,
                                 fmt::join(periods, " and ")));
  }
  for (const Matrix& profile : profiles) {
    if (options.period != 0 && profile.cols() != options.period) continue;
    for (Index k = 0; k < profile.rows(); ++k) print_row(profile.row(k));
    return;
  }
  throw UsageError(fmt::format("{} has no period {}; expected {}", options.model, options.period,
                               fmt::join(periods, " or ")));
}

void print_trace(const ShowOptions& options, const Model& model) {
  const TraceTable& trace = model.trace;
  print_words("t,log_likelihood,{}\n", fmt::format("{}", fmt::join(trace.names, ",")));
  for (Index i = 0; i < trace.t.size(); ++i) {
    print_words("{},{:.17g},", trace.t[i], trace.log_likelihood[i]);
    print_row(options.last ? trace.last.row(i) : trace.reported.row(i));
  }
}

void print_json(const ShowOptions& options, const Model& model) {
  JsonWriter json(JsonWriter::Layout::indented);
  write_model_facts(json, model, estimate_to_show(options, model));
  fmt::print("{}\n", json.text());
}

// Which sources another fit has found too, such as one with another seed.
void print_model_comparison(const ShowOptions& options, const Model& model) {
  const Model other_model = read_model_file(options.compare);
  const Matrix found = basis_of(estimate_to_show(options, model), model.background);
  const Matrix other = basis_of(estimate_to_show(options, other_model), other_model.background);
  if (found.rows() != other.rows()) {
    throw InputError(fmt::format("{}: has {} channels; {} has {}", options.compare, other.rows(),
                                 options.model, found.rows()));
  }
  const Vector cosines = best_cosines(found, other);
  print_words("component  largest cosine with a column of {}\n", options.compare);
  for (Index k = 0; k < cosines.size(); ++k) {
    print_words("{:>9}  {:.4f}{}\n", k + 1, cosines[k],
                cosines[k] >= kFoundAgain ? "" : "  not found there");
  }
  print_words("{} of {} components have a cosine of {} or more\n",
              (cosines.array() >= kFoundAgain).count(), cosines.size(), kFoundAgain);
}

// Prints the estimated basis beside the true one, with matched columns, and their difference.
void print_comparison(const ShowOptions& options, const Model& model) {
  if (is_model_file(options.compare)) {
    print_model_comparison(options, model);
    return;
  }
  const Matrix truth = read_matrix_file(options.compare);
  const Matrix found = basis_of(estimate_to_show(options, model), model.background);
  if (truth.rows() != found.rows() || truth.cols() != found.cols()) {
    throw InputError(fmt::format("{}: is {}x{}; the basis of {} is {}x{}", options.compare,
                                 truth.rows(), truth.cols(), options.model, found.rows(),
                                 found.cols()));
  }
  const Matrix matched = in_order_of(found, truth);
  print_words("basis found (truth in brackets), columns in the order of {}\n", options.compare);
  for (Index m = 0; m < truth.rows(); ++m) {
    for (Index k = 0; k < truth.cols(); ++k) {
      print_words(" {:9.3f} ({:.3f})", matched(m, k), truth(m, k));
    }
    print_words("\n");
  }
  print_words("root-mean-square error {:.4g}, relative error {:.4g}\n",
              root_mean_square_error(matched, truth), relative_error(matched, truth));
}

constexpr Index kValuesShown = 12;

double median(const Matrix& values) {
  Vector sorted = values.reshaped();
  std::ranges::sort(sorted);
  return (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]) / 2;
}

// The parameters with their standard errors; of many, the median.
void print_errors(const StandardErrors& errors) {
  print_words(
      "standard errors ({})\n",
      errors.is_full
          ? "computed jointly"
          : "computed for each channel by itself: too small if activations are poorly known");
  for (const auto& [name, value] : errors.robust.parameters) {
    print_words("  {:<12} {:10.4g}{}\n", name, median(value),
                value.size() > 1 ? fmt::format(", the median of {}", value.size()) : "");
  }
  for (const Matrix& profile : errors.robust.profiles) {
    if (profile.size() == 0) continue;
    print_words("  {:<12} {:10.4g}, the median of the gains of period {}\n", "profile",
                median(profile), profile.cols());
  }
  print_words("  {:<12} {:10.4g}, the median; --basis --standard-errors prints all\n", "basis",
              median(errors.robust.basis));
}

// Prints a list on one line, and a table row by row.
void print_parameter(const std::string& name, const Matrix& value) {
  const Matrix rows = value.cols() == 1 ? Matrix(value.transpose()) : value;
  for (Index i = 0; i < rows.rows(); ++i) {
    print_words("  {:<12}", i == 0 ? name : "");
    for (const double number : rows.row(i)) print_words(" {:10.6g}", number);
    print_words("\n");
  }
}

// A name that may be long, on a line with others.
std::string short_name(std::string_view name) {
  constexpr int kLongest = 32;
  std::string shown;
  for (int count = 0; !name.empty(); ++count) {
    if (count == kLongest) return shown + "…";
    shown += take_character(name);
  }
  return shown;
}

std::string channel_name(const Model& model, Index m) {
  return model.names.empty() ? fmt::format("channel {}", m + 1) : short_name(model.names[m]);
}

// The channels that a component adds most to, with their parts of its column.
void print_strongest(const Model& model, const Matrix& basis) {
  constexpr Index kMostChannels = 5;
  const Index shown = std::min(kMostChannels, basis.rows());
  print_words("strongest channels of each component, and their shares of it\n");
  std::vector<Index> order(static_cast<std::size_t>(basis.rows()));
  for (Index k = 0; k < basis.cols(); ++k) {
    std::iota(order.begin(), order.end(), 0);
    std::ranges::partial_sort(order, order.begin() + shown, [&](Index a, Index b) {
      return basis(a, k) != basis(b, k) ? basis(a, k) > basis(b, k) : a < b;
    });
    const double sum = basis.col(k).sum();
    print_words("  {:>3}:", k + 1);
    for (Index i = 0; i < shown && sum > 0; ++i) {
      print_words("{} {} {:.2g} %", i == 0 ? "" : ",", channel_name(model, order[i]),
                  100 * basis(order[i], k) / sum);
    }
    print_words("{}\n", sum > 0 ? "" : " none: its column is 0");
  }
}

void print_text(const ShowOptions& options, const Model& model) {
  const Estimate& estimate = estimate_to_show(options, model);
  print_words("{} channels, {} components{}\n", model.num_channels(), model.num_components(),
              model.background ? " and a background" : "");
  print_words("prior {}\n", estimate.prior.name());
  for (const auto& [name, value] : estimate.prior.parameters()) {
    print_parameter(name, value);
  }
  print_words("counts {}\n", estimate.law->name());
  for (const auto& [name, value] : estimate.law.parameters()) {
    if (value.size() <= kValuesShown) {
      print_parameter(name, value);
    } else {
      print_words("  {:<12} {:.4g} to {:.4g} over {} channels, median {:.4g}\n", name,
                  value.minCoeff(), value.maxCoeff(), value.size(), median(value));
    }
  }
  for (const Matrix& profile : estimate.season.profiles()) {
    print_words("period {}: gains from {:.3g} to {:.3g}; --profile prints them\n", profile.cols(),
                profile.minCoeff(), profile.maxCoeff());
  }
  for (const Matrix& gains : estimate.season.channel_profiles()) {
    print_words(
        "period {}: gains of single channels from {:.3g} to {:.3g}; --channel-profile prints "
        "them\n",
        gains.cols(), gains.minCoeff(), gains.maxCoeff());
  }
  if (model.standard_errors) print_errors(*model.standard_errors);
  if (!model.choice_of_components.empty()) {
    fmt::print("{}", choice_text(model.choice_of_components));
  }
  if (!model.stability.empty()) fmt::print("{}", stability_text(model.stability));
  if (!model.choice_of_prior.empty()) fmt::print("{}", choice_text(model.choice_of_prior));
  print_words("{} observations by {} EM, {} engine, log-likelihood {:.6f}\n",
              with_commas(model.observations), to_string(model.method), to_string(model.engine),
              model.log_likelihood);
  if (model.impossible_observations > 0) {
    print_words("{} of them impossible under the parameters at their time\n",
                with_commas(model.impossible_observations));
  }
  if (model.outliers > 0) {
    print_words("{} of them outliers that were treated as missing\n", with_commas(model.outliers));
  }
  const Matrix basis = basis_of(estimate, model.background);
  const Vector background = background_of(estimate, model.background);
  print_words("basis (a row a channel{})\n", model.background ? ", background last" : "");
  constexpr Index kRowsShown = 30;
  for (Index m = 0; m < std::min(kRowsShown, basis.rows()); ++m) {
    for (const double value : basis.row(m)) print_words("{:11.4g}", value);
    if (model.background) print_words("  |{:11.4g}", background[m]);
    print_words("{}{}\n", model.names.empty() ? "" : "  ",
                model.names.empty() ? "" : short_name(model.names[m]));
  }
  if (basis.rows() > kRowsShown) {
    print_words("... {} more rows; --basis prints all\n", basis.rows() - kRowsShown);
  }
  if (!model.names.empty() || basis.rows() > kRowsShown) print_strongest(model, basis);
}

void show(const ShowOptions& options) {
  if (options.standard_errors && !options.basis && !options.profile) {
    throw UsageError("--standard-errors requires --basis or --profile");
  }
  const Model model = read_model_file(options.model);
  if (!options.compare.empty()) {
    print_comparison(options, model);
  } else if (options.json) {
    print_json(options, model);
  } else if (options.basis) {
    print_basis(options, model);
  } else if (options.profile || options.channel_profile) {
    print_profile(options, model);
  } else if (options.trace) {
    print_trace(options, model);
  } else {
    print_text(options, model);
  }
}

OptionTable<ShowOptions> show_table() {
  using namespace headwater::rows;
  return joined<ShowOptions>({
      {text({.name = "MODEL",
             .help = "model file of headwater fit",
             .is_required = true,
             .is_positional = true},
            &ShowOptions::model, kFileName)},
      in_group<ShowOptions>(
          "Output",
          {flag({.name = "json",
                 .help = "print the whole model except the basis and the trace, as JSON"},
                &ShowOptions::json),
           flag({.name = "basis", .help = "print the basis: M lines of K numbers with 17 digits"},
                &ShowOptions::basis),
           flag(
               {.name = "profile", .help = "print the profile of the season: K lines of P numbers"},
               &ShowOptions::profile),
           flag({.name = "channel-profile",
                 .help = "print the gains of single channels, which multiply the profile: M lines "
                         "of P numbers"},
                &ShowOptions::channel_profile),
           whole_number({.name = "period",
                         .value_name = "P",
                         .help = "which profile, if there are several periods"},
                        &ShowOptions::period, 0, kLongestPeriod),
           flag({.name = "trace",
                 .help = "print how the estimates changed during the fit: CSV with a header"},
                &ShowOptions::trace),
           text({.name = "compare",
                 .value_name = "FILE",
                 .help =
                     "print the basis beside another one (M x K), columns matched; if FILE is a "
                     "model, print for each component the cosine with the most similar one there"},
                &ShowOptions::compare, kFileName),
           flag({.name = "standard-errors",
                 .help =
                     "with --basis or --profile: print the standard errors of the entries instead"},
                &ShowOptions::standard_errors),
           flag({.name = "last", .help = "use the last iterate instead of the average"},
                &ShowOptions::last)}),
  });
}

// Only one of them can be asked for at a time.
void exclude_each_other(CLI::App& command, const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (std::size_t j = i + 1; j < names.size(); ++j) {
      command.get_option(names[i])->excludes(command.get_option(names[j]));
    }
  }
}

}  // namespace

void add_show(CLI::App& app, Run& run) {
  auto options = std::make_shared<ShowOptions>();
  CLI::App& command = *app.add_subcommand("show", "print what is in a model file");
  add_options(command, show_table(), *options);
  exclude_each_other(
      command, {"--json", "--basis", "--profile", "--channel-profile", "--trace", "--compare"});
  command.get_option("--standard-errors")->excludes(command.get_option("--last"));
  command.callback([options, &run] { run = [options] { show(*options); }; });
}
