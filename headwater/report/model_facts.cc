#include "headwater/report/model_facts.hpp"

#include "headwater/io/text/parameter_json.hpp"
#include "headwater/session/quality.hpp"

namespace headwater {

namespace {

void write_choice(JsonWriter& json, const std::vector<ComponentScore>& table) {
  json.key("choice_of_components").begin_array();
  for (const ComponentScore& row : table) {
    json.begin_object();
    json.key("components").value(row.components);
    json.key("score").value(row.score);
    json.key("standard_error").value(row.standard_error);
    json.key("chosen").value(row.chosen);
    json.end_object();
  }
  json.end_array();
}

void write_priors(JsonWriter& json, const std::vector<PriorScore>& table) {
  json.key("choice_of_prior").begin_array();
  for (const PriorScore& row : table) {
    json.begin_object();
    json.key("prior").value(row.prior);
    json.key("counts").value(row.law);
    json.key("score").value(row.score);
    json.key("standard_error").value(row.standard_error);
    json.key("chosen").value(row.chosen);
    json.end_object();
  }
  json.end_array();
}

void write_errors_of(JsonWriter& json, const ErrorsOfEstimate& errors, Index largest_table) {
  json.key("parameters");
  write_parameters(json, errors.parameters);
  if (!errors.profiles.empty()) {
    json.key("profiles").begin_array();
    for (const Matrix& profile : errors.profiles) {
      if (profile.size() > 0) {
        write_value(json, profile);
      } else {
        json.null();
      }
    }
    json.end_array();
  }
  if (errors.basis.size() > largest_table) return;
  json.key("basis").begin_array();
  for (Index m = 0; m < errors.basis.rows(); ++m) {
    json.begin_array();
    for (const double value : errors.basis.row(m)) json.value(value);
    json.end_array();
  }
  json.end_array();
}

void write_errors(JsonWriter& json, const StandardErrors& errors, Index largest_table) {
  json.key("standard_errors").begin_object();
  json.key("information").value(errors.is_full ? "full" : "channel");
  write_errors_of(json, errors.robust, largest_table);
  json.key("plain").begin_object();
  write_errors_of(json, errors.plain, largest_table);
  json.end_object();
  json.end_object();
}

}  // namespace

void write_model_facts(JsonWriter& json, const Model& model, const Estimate& estimate,
                       Index largest_table) {
  json.begin_object();
  json.key("channels").value(model.num_channels());
  json.key("components").value(model.num_components());
  json.key("background").value(model.background);
  json.key("names").begin_array();
  for (const std::string& name : model.names) json.value(name);
  json.end_array();
  json.key("observations").value(model.observations);
  json.key("log_likelihood").value(model.log_likelihood);
  json.key("log_likelihood_after_start").value(model.log_likelihood_after_start);
  json.key("observations_after_start").value(model.observations_after_start);
  if (const GainOverMean& mean = model.over_running_mean; mean.observations > 0) {
    json.key("over_running_mean").begin_object();
    json.key("gain").value(mean.gain);
    json.key("standard_error").value(mean.standard_error);
    json.key("observations").value(mean.observations);
    json.end_object();
  }
  json.key("warnings").begin_array();
  for (const std::string& note : quality_notes(model)) json.value(note);
  json.end_array();
  json.key("impossible_observations").value(model.impossible_observations);
  json.key("outliers").value(model.outliers);
  json.key("revivals").value(model.revivals);
  json.key("prior").begin_object();
  json.key("name").value(estimate.prior.name());
  json.key("parameters");
  write_parameters(json, estimate.prior.parameters());
  json.end_object();
  json.key("counts").begin_object();
  json.key("law").value(estimate.law->name());
  for (const Parameter& parameter : estimate.law.parameters()) {
    json.key(parameter.name == "level_persistence" ? "persistence" : parameter.name);
    write_value(json, parameter.value);
  }
  json.end_object();
  json.key("periods").begin_array();
  for (std::size_t p = 0; p < estimate.season.profiles().size(); ++p) {
    const Matrix& profile = estimate.season.profiles()[p];
    json.begin_object();
    json.key("period").value(profile.cols());
    json.key("profile");
    write_value(json, profile);
    const auto& of_channels = estimate.season.channel_profiles();
    if (!of_channels.empty() && of_channels[p].size() <= largest_table) {
      json.key("channel_profile");
      write_value(json, of_channels[p]);
    }
    json.end_object();
  }
  json.end_array();
  if (!model.choice_of_components.empty()) write_choice(json, model.choice_of_components);
  if (!model.choice_of_prior.empty()) write_priors(json, model.choice_of_prior);
  if (!model.stability.empty()) {
    json.key("stability").begin_object();
    json.key("restarts").value(model.stability.restarts);
    json.key("found").begin_array();
    for (const Index count : model.stability.found) json.value(count);
    json.end_array();
    json.end_object();
  }
  if (model.standard_errors) write_errors(json, *model.standard_errors, largest_table);
  json.key("engine").value(to_string(model.engine));
  if (!model.engine_reason.empty()) json.key("engine_reason").value(model.engine_reason);
  if (model.engine == EngineKind::kBeam) json.key("lost_mass").value(model.lost_mass);
  if (model.proposal) {
    json.key("proposal").value(to_string(*model.proposal));
    json.key("effective_part").value(model.effective_part);
  }
  json.key("method").value(to_string(model.method));
  json.key("iterations").value(model.iterations);
  if (model.method == Method::kBatch) json.key("converged").value(model.converged);
  json.key("seed").value(model.seed);
  json.key("version").value(model.version);
  json.key("options").begin_object();
  for (const auto& [name, text] : model.options) json.key(name).value(text);
  json.end_object();
  json.end_object();
}

}  // namespace headwater
