#include "step_log.hpp"

#include <fmt/format.h>

#include "headwater/io/text/json.hpp"
#include "headwater/io/text/parameter_json.hpp"
#include "surprise_json.hpp"

using namespace headwater;

namespace {

constexpr std::size_t kLoggedChannels = 3;  // of the smallest tail probability

}  // namespace

std::string log_line(const StepReport& report, EngineKind engine, const Estimate& estimate,
                     const Surprise* surprise, const std::string& time, bool with_prior) {
  JsonWriter json;
  json.begin_object();
  json.key("t").value(report.t);
  if (!time.empty()) json.key("time").value(time);
  json.key("log_predictive").value(report.filter.log_predictive);
  engine_info(engine).report(report.filter, [&](const char* name, const FieldValue& field) {
    std::visit([&](const auto& value) { json.key(name).value(value); }, field);
  });
  if (surprise != nullptr) {
    json.key("surprise").value(surprise->surprise);
    json.key("tail_probability").value(surprise->row.p_row);
    json.key("p_total").value(surprise->row.p_total);
    json.key("p_channels").value(surprise->row.p_channels);
    json.key("by_model").begin_object();
    json.key("tail_probability").value(surprise->by_model.p_row);
    json.key("p_total").value(surprise->by_model.p_total);
    json.key("p_channels").value(surprise->by_model.p_channels);
    json.end_object();
    json.key("channels");
    write_channels(json, surprise->row.channels, surprise->labels, kLoggedChannels);
  }
  json.key("step").value(report.step_size);
  json.key("updated").value(report.updated);
  json.key("predicted_by").value(report.by_average ? "average" : "last");
  json.key("in_start").value(report.in_start);
  json.key("provisional").value(report.provisional);
  json.key("outlier").value(report.is_outlier);
  json.key("impossible").value(report.filter.impossible);
  if (report.revived >= 0) {
    json.key("revived").value(static_cast<std::int64_t>(report.revived + 1));
  }
  if (with_prior) json.key("prior").value(estimate.prior.name());
  json.key("parameters");
  write_parameters(json, estimate.prior.parameters());
  json.end_object();
  return json.text() + "\n";
}

std::string bad_row_line(const std::string& message) {
  JsonWriter json;
  json.begin_object();
  json.key("bad_row").value(message);
  json.end_object();
  return json.text() + "\n";
}

std::string activations_header(Index num_components, bool with_surprise) {
  std::string line = "time";
  for (Index k = 1; k <= num_components; ++k) line += fmt::format(",x{}", k);
  return line + (with_surprise ? ",surprise,tail_probability\n" : "\n");
}

std::string activations_line(const Vector& x, const Surprise* surprise, const std::string& time) {
  std::string line = time.empty() ? "" : time + ",";
  line += fmt::format("{}", fmt::join(as_span(x), ","));
  if (surprise != nullptr) {
    line += fmt::format(",{},{}", surprise->surprise, surprise->row.p_row);
  }
  return line + "\n";
}
