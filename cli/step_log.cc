#include "step_log.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "headwater/core/error.hpp"
#include "headwater/io/json.hpp"
#include "parameter_json.hpp"

using namespace headwater;

namespace {

[[noreturn]] void throw_write_error(const std::string& name) {
  throw InputError(fmt::format("{}: cannot be written: {}", name, std::strerror(errno)));
}

}  // namespace

void StepLog::Close::operator()(std::FILE* file) const {
  if (file != stdout) std::fclose(file);
}

StepLog::StepLog(const std::string& name)
    : name_(name == "-" ? "standard output" : name),
      file_(name == "-" ? stdout : std::fopen(name.c_str(), "w")) {
  if (!file_) throw_write_error(name_);
}

void StepLog::write(const StepReport& report, const Estimate& estimate) {
  JsonWriter json;
  json.begin_object();
  json.key("t").value(report.t);
  json.key("log_predictive").value(report.filter.log_predictive);
  if (report.filter.effective_size > 0) {
    json.key("ess").value(report.filter.effective_size);
    json.key("resampled").value(report.filter.resampled);
    json.key("unique_ancestors").value(static_cast<std::int64_t>(report.filter.unique_ancestors));
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
  const std::string line = json.text() + "\n";
  if (std::fwrite(line.data(), 1, line.size(), file_.get()) != line.size() ||
      std::fflush(file_.get()) != 0) {
    throw_write_error(name_);
  }
}
