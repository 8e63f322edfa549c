#include "step_log.hpp"

#include <fmt/format.h>

#include "headwater/io/text/json.hpp"
#include "parameter_json.hpp"

using namespace headwater;

void StepLog::write(const StepReport& report, const Estimate& estimate, const Surprise* surprise) {
  JsonWriter json;
  json.begin_object();
  json.key("t").value(report.t);
  json.key("log_predictive").value(report.filter.log_predictive);
  const FilterStep& filter = report.filter;
  if (filter.effective_size > 0) json.key("ess").value(filter.effective_size);
  if (filter.num_states > 0) {
    json.key("states").value(static_cast<std::int64_t>(filter.num_states));
    json.key("lost_mass").value(filter.lost_mass);
  }
  if (filter.unique_ancestors > 0) {
    json.key("resampled").value(report.filter.resampled);
    json.key("guided").value(report.filter.guided);
    json.key("bridge_stages").value(static_cast<std::int64_t>(report.filter.bridge_stages));
    json.key("unique_ancestors").value(static_cast<std::int64_t>(report.filter.unique_ancestors));
  }
  if (surprise != nullptr) {
    json.key("surprise").value(surprise->surprise);
    json.key("tail_probability").value(surprise->tail_probability);
  }
  json.key("step").value(report.step_size);
  json.key("updated").value(report.updated);
  json.key("impossible").value(report.filter.impossible);
  if (report.revived >= 0) {
    json.key("revived").value(static_cast<std::int64_t>(report.revived + 1));
  }
  json.key("parameters");
  write_parameters(json, estimate.prior.parameters());
  json.end_object();
  file_.write(json.text() + "\n");
}

void StepLog::write_bad_row(const std::string& message) {
  JsonWriter json;
  json.begin_object();
  json.key("bad_row").value(message);
  json.end_object();
  file_.write(json.text() + "\n");
}

void write_activations(LineFile& file, const Vector& x, const Surprise* surprise) {
  std::string line = fmt::format("{}", fmt::join(as_span(x), ","));
  if (surprise != nullptr) {
    line += fmt::format(",{},{}", surprise->surprise, surprise->tail_probability);
  }
  file.write(line + "\n");
}
