#include "headwater/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "headwater/emission/negative_binomial.hpp"
#include "headwater/error.hpp"
#include "headwater/io/channel_names.hpp"
#include "headwater/io/files/seal.hpp"
#include "headwater/io/hdf5/hdf5.hpp"
#include "headwater/io/hdf5/hdf5_child.hpp"
#include "headwater/registry.hpp"
#include "headwater/session/choices.hpp"
#include "headwater/session/model_choices.hpp"
#include "headwater/session/model_errors.hpp"
#include "headwater/session/model_parameters.hpp"

namespace headwater {

namespace {

constexpr const char* kFormat = "headwater model";
constexpr std::int64_t kModelFormatVersion = 1;

void write_estimate(Hdf5File& file, const std::string& group, const Estimate& estimate,
                    bool background) {
  file.write(group + "/basis", basis_of(estimate, background));
  if (background) file.write(group + "/background", background_of(estimate, background));
  write_parameters(file, group + "/parameters", estimate.prior.parameters());
  file.write(group + "/counts/law", estimate.law->name());
  write_parameters(file, group + "/counts/parameters", estimate.law.parameters());
  for (const Matrix& profile : estimate.season.profiles()) {
    file.write(fmt::format("{}/periods/{}", group, profile.cols()), profile);
  }
  for (const Matrix& gains : estimate.season.channel_profiles()) {
    file.write(fmt::format("{}/channel_periods/{}", group, gains.cols()), gains);
  }
}

// One dataset for each period, K x P. Their order does not matter.
// ... and, where channels have a season of their own, one more for each, M x P.
Season read_season(const Hdf5Contents& file, const std::string& group, Index num_components,
                   Index num_channels) {
  std::vector<Matrix> profiles;
  if (!file.contains(group + "/periods")) return {};
  for (const std::string& name : file.children(group + "/periods")) {
    const std::string path = group + "/periods/" + name;
    profiles.push_back(file.read_matrix(path));
    const Matrix& profile = profiles.back();
    if (profile.rows() != num_components || profile.cols() < 2 || profile.cols() > kLongestPeriod ||
        fmt::format("{}", profile.cols()) != name) {
      throw InputError(fmt::format("{} is {}x{}; expected {} rows and {} columns", path,
                                   profile.rows(), profile.cols(), num_components, name));
    }
  }
  if (std::ssize(profiles) > kMostPeriods) {
    throw InputError(fmt::format("{}/periods: {} found; expected at most {}", group,
                                 profiles.size(), kMostPeriods));
  }
  std::ranges::sort(profiles, {}, [](const Matrix& profile) { return profile.cols(); });
  std::vector<Matrix> of_channels;
  for (const Matrix& profile : profiles) {
    const std::string path = fmt::format("{}/channel_periods/{}", group, profile.cols());
    if (!file.contains(path)) continue;
    of_channels.push_back(file.read_matrix(path));
    const Matrix& gains = of_channels.back();
    if (gains.rows() != num_channels || gains.cols() != profile.cols()) {
      throw InputError(fmt::format("{} is {}x{}; expected {} rows and {} columns", path,
                                   gains.rows(), gains.cols(), num_channels, profile.cols()));
    }
  }
  try {
    Season season(std::move(profiles));
    season.set_channel_profiles(std::move(of_channels));
    return season;
  } catch (const UsageError& error) {
    throw InputError(fmt::format("{}/periods: {}", group, error.what()));
  }
}

// Files of version 0.1 do not name the law, which was Poisson's.
AnyLaw read_law(const Hdf5Contents& file, const std::string& group, Index num_channels) {
  CountsConfig counts;
  counts.law = AnyLaw()->name();
  if (!file.contains(group + "/counts/law")) return make_law(num_channels, counts);
  counts.law = file.read_string(group + "/counts/law");
  counts.parameters = read_parameters(file, group + "/counts/parameters");
  for (const Parameter& parameter : counts.parameters) {
    const bool is_shared =
        parameter.name != NegativeBinomial::kPersistence && parameter.value.size() == 1;
    if (is_shared) counts.dispersion = DispersionOf::kShared;
  }
  return make_law(num_channels, counts);
}

Estimate read_estimate(const Hdf5Contents& file, const std::string& group, AnyPrior prior) {
  Estimate estimate{file.read_matrix(group + "/basis"), std::move(prior)};
  estimate.law = read_law(file, group, estimate.basis.rows());
  if (file.contains(group + "/background")) {
    const Vector background = file.read_vector(group + "/background");
    if (background.size() != estimate.basis.rows()) {
      throw InputError(fmt::format("{}/background has {} entries; expected {}", group,
                                   background.size(), estimate.basis.rows()));
    }
    estimate.basis.conservativeResize(Eigen::NoChange, estimate.basis.cols() + 1);
    estimate.basis.rightCols(1) = background;
  }
  if (!(estimate.basis.array().isFinite() && estimate.basis.array() >= 0).all()) {
    throw InputError(fmt::format("{}/basis has an entry that is negative or not finite", group));
  }
  for (const Parameter& parameter : read_parameters(file, group + "/parameters")) {
    estimate.prior.set_parameter(parameter);
  }
  estimate.season =
      read_season(file, group, estimate.prior.num_components(), estimate.basis.rows());
  if (estimate.prior.is_finite()) validate(estimate.prior.finite_chain(), group + "/parameters");
  return estimate;
}

void write_trace(Hdf5File& file, const TraceTable& trace) {
  file.write("/trace/columns", fmt::format("{}", fmt::join(trace.names, "\n")));
  file.write("/trace/t", trace.t);
  file.write("/trace/log_likelihood", trace.log_likelihood);
  file.write("/trace/reported", trace.reported);
  file.write("/trace/last", trace.last);
}

TraceTable read_trace(const Hdf5Contents& file) {
  TraceTable trace;
  const std::string names = file.read_string("/trace/columns");
  for (std::size_t begin = 0; begin < names.size();) {
    const std::size_t end = std::min(names.find('\n', begin), names.size());
    trace.names.push_back(names.substr(begin, end - begin));
    begin = end + 1;
  }
  trace.t = file.read_vector("/trace/t");
  trace.log_likelihood = file.read_vector("/trace/log_likelihood");
  trace.reported = file.read_matrix("/trace/reported");
  trace.last = file.read_matrix("/trace/last");
  const auto fits = [&](const Matrix& values) {
    return values.rows() == trace.t.size() &&
           values.cols() == static_cast<Index>(trace.names.size());
  };
  if (!fits(trace.reported) || !fits(trace.last) || trace.log_likelihood.size() != trace.t.size()) {
    throw InputError("/trace: its parts are of different lengths");
  }
  return trace;
}

void check_format(const Hdf5Contents& file) {
  if (!file.has_attribute("format") || file.string_attribute("format") != kFormat) {
    throw InputError("is not a headwater model");
  }
  const std::int64_t found = file.int_attribute("format_version");
  if (found != kModelFormatVersion) {
    throw InputError(
        fmt::format("is a model file of format version {}; this program reads version {}", found,
                    kModelFormatVersion));
  }
}

AnyPrior stored_prior(const Hdf5Contents& file) {
  PriorConfig config;
  config.name = file.read_string("/prior/name");
  config.parameters = read_parameters(file, "/prior/constants");
  for (Parameter& parameter : read_parameters(file, "/parameters")) {
    config.parameters.push_back(std::move(parameter));
  }
  return make_prior(file.read_int("/prior/components"), config);
}

// An attribute of the file that names one of several choices.
template <class Value>
Value choice_attribute(const Hdf5Contents& file, const std::string& attribute,
                       const Choices<Value>& choices) {
  const std::string name = file.string_attribute(attribute);
  if (const std::optional<Value> value = value_of(name, choices)) return *value;
  throw InputError(fmt::format("attribute '{}' is '{}'; expected one of {}", attribute, name,
                               fmt::join(names_of(choices), ", ")));
}

Model read_fields(const Hdf5Contents& file, const AnyPrior& prior) {
  Model model(read_estimate(file, "", prior), read_estimate(file, "/last_iterate", prior));
  model.background = file.contains("/background");
  if (model.num_components() != prior.num_components()) {
    throw InputError(fmt::format("/basis has {} columns; the prior has {} components",
                                 model.num_components(), prior.num_components()));
  }
  if (model.last.basis.rows() != model.num_channels() ||
      model.last.basis.cols() != model.reported.basis.cols()) {
    throw InputError("/last_iterate/basis and /basis are of different shapes");
  }
  if (file.contains("/names")) model.names = file.read_strings("/names");
  check_names(model.names, model.num_channels(), "/names");
  model.engine = choice_attribute(file, "engine", engine_choices());
  if (file.has_attribute("engine_reason")) {
    model.engine_reason = file.string_attribute("engine_reason");
  }
  model.method = choice_attribute(file, "method", method_choices());
  if (file.has_attribute("proposal")) {
    model.proposal = choice_attribute(file, "proposal", proposal_choices());
    model.effective_part = file.read_double("/summary/effective_part");
  }
  model.version = file.string_attribute("version");
  model.seed = static_cast<std::uint64_t>(file.int_attribute("seed"));
  model.observations = file.read_int("/summary/observations");
  model.impossible_observations = file.read_int("/summary/impossible_observations");
  if (file.contains("/summary/outliers")) {
    model.outliers = file.read_int("/summary/outliers");
    model.first_outlier = file.read_int("/summary/first_outlier");
  }
  if (file.contains("/summary/revivals")) model.revivals = file.read_int("/summary/revivals");
  model.iterations = file.read_int("/summary/iterations");
  model.converged = file.read_int("/summary/converged") != 0;
  model.log_likelihood = file.read_double("/summary/log_likelihood");
  if (file.contains("/summary/observations_after_start")) {
    model.observations_after_start = file.read_int("/summary/observations_after_start");
    model.log_likelihood_after_start = file.read_double("/summary/log_likelihood_after_start");
  }
  if (file.contains("/summary/gain_over_mean")) {
    const Vector gain = file.read_vector("/summary/gain_over_mean");
    if (gain.size() != 2) throw InputError("/summary/gain_over_mean: expected 2 numbers");
    model.over_running_mean = {gain[0], gain[1], file.read_int("/summary/compared_with_mean")};
  }
  if (file.contains("/summary/lost_mass")) model.lost_mass = file.read_double("/summary/lost_mass");
  for (const std::string& name : file.children("/options")) {
    model.options.emplace_back(name, file.read_string("/options/" + name));
  }
  model.trace = read_trace(file);
  model.choice_of_components = read_choice(file);
  model.choice_of_prior = read_priors(file);
  model.stability = read_stability(file, model.num_components());
  model.standard_errors = read_errors(file, model.reported);
  if (file.contains("/state")) model.state = file.read_bytes("/state");
  return model;
}

// Errors name the file once, whoever noticed.
Model read_named(const std::string& name, const AnyPrior* given,
                 const std::vector<std::string>& hdf5_reader) {
  check_seal(kFormat, name);
  const Hdf5Contents file = hdf5_reader.empty() ? Hdf5Contents(Hdf5File::open(name))
                                                : receive_hdf5_contents(hdf5_reader, name);
  try {
    check_format(file);
    return read_fields(file, given != nullptr ? *given : stored_prior(file));
  } catch (const Error& error) {
    const std::string message = error.what();
    if (message.starts_with(name)) throw InputError(message);
    throw InputError(fmt::format("{}: {}", name, message));
  }
}

}  // namespace

ModelFile::ModelFile(const std::string& name)
    : file_(std::make_unique<Hdf5File>(Hdf5File::create(name))) {}
ModelFile::ModelFile(ModelFile&&) noexcept = default;
ModelFile::~ModelFile() = default;

void ModelFile::write(const Model& model) {
  Hdf5File& file = *file_;
  file.set_attribute("/", "format", kFormat);
  file.set_attribute("/", "format_version", kModelFormatVersion);
  file.set_attribute("/", "version", model.version);
  file.set_attribute("/", "engine", to_string(model.engine));
  if (!model.engine_reason.empty()) {
    file.set_attribute("/", "engine_reason", model.engine_reason);
  }
  if (model.proposal) file.set_attribute("/", "proposal", to_string(*model.proposal));
  file.set_attribute("/", "method", to_string(model.method));
  file.set_attribute("/", "seed", static_cast<std::int64_t>(model.seed));
  if (!model.names.empty()) file.write("/names", model.names);
  write_estimate(file, "", model.reported, model.background);
  write_estimate(file, "/last_iterate", model.last, model.background);
  write_parameters(file, "/prior/constants", model.reported.prior.constants());
  file.write("/prior/name", model.reported.prior.name());
  file.write("/prior/components", model.num_components());
  file.write("/summary/observations", model.observations);
  file.write("/summary/impossible_observations", model.impossible_observations);
  file.write("/summary/outliers", model.outliers);
  file.write("/summary/first_outlier", model.first_outlier);
  file.write("/summary/revivals", model.revivals);
  file.write("/summary/iterations", model.iterations);
  file.write("/summary/converged", model.converged ? 1 : 0);
  file.write("/summary/log_likelihood", model.log_likelihood);
  file.write("/summary/log_likelihood_after_start", model.log_likelihood_after_start);
  file.write("/summary/observations_after_start", model.observations_after_start);
  if (const GainOverMean& mean = model.over_running_mean; mean.observations > 0) {
    file.write("/summary/gain_over_mean", Vector{{mean.gain, mean.standard_error}});
    file.write("/summary/compared_with_mean", mean.observations);
  }
  if (model.proposal) file.write("/summary/effective_part", model.effective_part);
  if (model.engine == EngineKind::kBeam) file.write("/summary/lost_mass", model.lost_mass);
  for (const auto& [name, text] : model.options) file.write("/options/" + name, text);
  write_trace(file, model.trace);
  write_choice(file, model.choice_of_components);
  write_priors(file, model.choice_of_prior);
  write_stability(file, model.stability);
  write_errors(file, model.standard_errors);
  if (!model.state.empty()) file.write_bytes("/state", model.state);
  file.commit(kFormat);
}

void write_model(const Model& model, const std::string& name) { ModelFile(name).write(model); }

bool is_model_file(const std::string& name) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(name, unknown)) return false;
  const std::string title = std::string(kFormat) + "\n";
  std::string begin(title.size(), '\0');
  std::ifstream(name, std::ios::binary).read(begin.data(), static_cast<long>(begin.size()));
  return begin == title;
}

Model read_model(const std::string& name, const std::vector<std::string>& hdf5_reader) {
  return read_named(name, nullptr, hdf5_reader);
}

Model read_model(const std::string& name, const AnyPrior& prior) {
  return read_named(name, &prior, {});
}

}  // namespace headwater
