#include "headwater/report/state_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "headwater/error.hpp"
#include "headwater/io/text/json.hpp"
#include "headwater/matching.hpp"
#include "headwater/report/model_facts.hpp"
#include "headwater/report/stream_json.hpp"

namespace headwater {

namespace {

constexpr int kDigits = 6;               // of the basis: more cannot be seen
constexpr Index kLargestTable = 20'000;  // of the model, in numbers of 17 digits
constexpr int kTraceDigits = 6;
constexpr Index kTracedParameters = 48;
constexpr Index kTracedChannels = 3;  // of a component
constexpr Index kTracedComponents = 24;

void write_labels(JsonWriter& json, const StateParts& parts) {
  json.begin_array();
  for (Index m = 0; m < parts.model.num_channels(); ++m) {
    const auto at = static_cast<std::size_t>(m);
    json.value(at < parts.names.size() ? parts.names[at] : fmt::format("{}", m + 1));
  }
  json.end_array();
}

void write_table(JsonWriter& json, const Matrix& table) {
  json.begin_array();
  for (Index i = 0; i < table.rows(); ++i) {
    json.begin_array();
    for (Index j = 0; j < table.cols(); ++j) json.rounded(table(i, j), kDigits);
    json.end_array();
  }
  json.end_array();
}

void write_column(JsonWriter& json, const Matrix& table, Index column) {
  json.begin_array();
  for (Index i = 0; i < table.rows(); ++i) json.rounded(table(i, column), kTraceDigits);
  json.end_array();
}

// The truth with its columns in the order of the model's.
void write_truth(JsonWriter& json, const StateParts& parts, const Matrix& found) {
  const Matrix& truth = *parts.truth;
  if (truth.rows() != found.rows() || truth.cols() != found.cols()) {
    throw InputError(fmt::format("the truth is {}x{}; the basis is {}x{}", truth.rows(),
                                 truth.cols(), found.rows(), found.cols()));
  }
  const std::vector<Index> matched = match_columns(found, truth);
  Matrix in_order(truth.rows(), truth.cols());
  for (Index k = 0; k < truth.cols(); ++k) {
    in_order.col(matched[static_cast<std::size_t>(k)]) = truth.col(k);
  }
  json.key("truth").begin_object();
  json.key("relative_error").value(relative_error(found, in_order));
  json.key("basis");
  write_table(json, in_order);
  json.end_object();
}

// The parameters of the prior, and the strongest channels of each component.
void write_trace(JsonWriter& json, const StateParts& parts, const Matrix& basis) {
  const TraceTable& trace = parts.model.trace;
  const Matrix& values = parts.last ? trace.last : trace.reported;
  const Index columns = basis.cols() + (parts.model.background ? 1 : 0);
  const bool has_basis = trace.has_basis();
  const Index first_of_basis = values.cols() - (has_basis ? basis.rows() * columns : 0);
  json.key("trace").begin_object();
  json.key("unit").value(parts.model.method == Method::kBatch ? "iterations" : "observations");
  json.key("t").begin_array();
  for (const double t : trace.t) json.value(static_cast<std::int64_t>(t));
  json.end_array();
  json.key("log_likelihood").begin_array();
  for (const double value : trace.log_likelihood) json.rounded(value, 12);
  json.end_array();
  json.key("parameters").begin_array();
  for (Index i = 0; i < std::min(first_of_basis, kTracedParameters); ++i) {
    json.begin_object();
    json.key("name").value(trace.names[static_cast<std::size_t>(i)]);
    json.key("values");
    write_column(json, values, i);
    json.end_object();
  }
  json.end_array();
  json.key("basis").begin_array();
  for (Index k = 0; has_basis && k < std::min(basis.cols(), kTracedComponents); ++k) {
    std::vector<Index> order(static_cast<std::size_t>(basis.rows()));
    std::iota(order.begin(), order.end(), Index{0});
    std::ranges::stable_sort(order, [&](Index a, Index b) { return basis(a, k) > basis(b, k); });
    for (Index i = 0; i < std::min(basis.rows(), kTracedChannels); ++i) {
      const Index m = order[static_cast<std::size_t>(i)];
      json.begin_object();
      json.key("component").value(k);
      json.key("channel").value(m);
      json.key("values");
      write_column(json, values, first_of_basis + m * columns + k);
      json.end_object();
    }
  }
  json.end_array();
  json.end_object();
}

}  // namespace

std::string state_json(const StateParts& parts) {
  const Model& model = parts.model;
  const Estimate& estimate = parts.last ? model.last : model.reported;
  const Matrix basis = basis_of(estimate, model.background);
  JsonWriter json;
  json.begin_object();
  json.key("format").value("headwater-state");
  json.key("version").value(kStateVersion);
  json.key("kind").value("report");
  json.key("title").value(parts.title);
  if (!parts.data.empty()) json.key("data").value(parts.data);
  json.key("model");
  write_model_facts(json, model, estimate, kLargestTable);
  json.key("channels");
  write_labels(json, parts);
  json.key("basis");
  write_table(json, estimate.basis);  // background last
  if (model.standard_errors && !parts.last) {
    json.key("standard_errors");
    write_table(json, model.standard_errors->robust.basis);
  }
  if (parts.truth) write_truth(json, parts, basis);
  if (model.trace.t.size() > 1) write_trace(json, parts, basis);
  if (parts.stream != nullptr) {
    json.key("stream");
    write_stream(json, parts);
  }
  json.end_object();
  return json.text();
}

}  // namespace headwater
