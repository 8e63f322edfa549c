#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "arrays.hpp"
#include "forecast.hpp"
#include "headwater/inference.hpp"
#include "headwater/io/channel_names.hpp"
#include "headwater/model.hpp"
#include "headwater/score_error.hpp"
#include "headwater/session/comparison.hpp"
#include "headwater/session/quality.hpp"
#include "headwater/watch.hpp"
#include "module.hpp"
#include "options.hpp"
#include "python_prior.hpp"
#include "signals.hpp"

namespace headwater::python {

namespace {

const Estimate& estimate_of(const Model& model, bool last) {
  return last ? model.last : model.reported;
}

nb::dict trace_of(const Model& model, bool last) {
  nb::dict columns;
  columns["t"] = vector_to_numpy(model.trace.t).cast();
  columns["log_likelihood"] = vector_to_numpy(model.trace.log_likelihood).cast();
  const Matrix& values = last ? model.trace.last : model.trace.reported;
  for (Index i = 0; i < values.cols(); ++i) {
    columns[model.trace.names[i].c_str()] = vector_to_numpy(values.col(i)).cast();
  }
  return columns;
}

nb::dict options_of(const Model& model) {
  nb::dict options;
  for (const auto& [name, text] : model.options) options[name.c_str()] = text;
  return options;
}

// The output arrays; each is optional.
struct Outputs {
  std::optional<RowsOut> activations;
  std::optional<RowOut> log_predictive;
  std::optional<RowsOut> predicted;
  std::optional<RowOut> tail_probability;  // the next two only with it
  std::optional<RowOut> p_total;
  std::optional<RowOut> p_channels;

  void take(Index t, const FilterStep& step, const ModelFilter& filter) const {
    if (activations) as_map(*activations).row(t) = filter.filtered_activation();
    if (log_predictive) log_predictive->data()[t] = step.log_predictive;
    if (predicted) as_map(*predicted).row(t) = filter.predicted_observation();
  }
};

// A filter with a model's parameters, and the number of observations that it has processed.
struct TimedFilter {
  TimedFilter(const Model& model, bool last, const EngineConfig& engine, std::uint64_t seed,
              std::int64_t phase, bool with_error)
      : filter(estimate_of(model, last), model.background, engine, seed) {
    filter.set_phase(phase);
    if (with_error) {
      error.emplace(estimate_of(model, last), model.background, engine, seed, phase);
    }
  }

  ModelFilter filter;
  std::optional<ScoreError> error;  // of the log-probabilities
  SurpriseMeter surprise;
  std::optional<Watch> watch;  // once it is asked for
  std::int64_t time = 0;
};

// Each row continues from the previous one or, with `alone`, starts from the beginning.
void run(TimedFilter& timed, const RowsIn& rows, const std::optional<RowsIn>& exposures,
         const std::optional<IndicesIn>& sequences, const Outputs& out, bool alone) {
  const nb::gil_scoped_release release;
  SignalWatch watch;
  SequenceBegins begins(sequences);
  Observation y;
  for (std::size_t t = 0; t < rows.shape(0); ++t, watch.look()) {
    assign_row(rows, exposures, t, timed.time + 1, y);
    y.set_begins_sequence(begins.at(t));
    if (alone) {
      ModelFilter first(timed.filter);
      out.take(static_cast<Index>(t), first.step(y), first);
      continue;
    }
    const FilterStep step = timed.filter.step(y);
    out.take(static_cast<Index>(t), step, timed.filter);
    if (timed.error) timed.error->step(y, step);
    ++timed.time;
    if (out.tail_probability) {
      const RowSurprise& row = timed.surprise(timed.filter.engine(), y, timed.time);
      out.tail_probability->data()[t] = row.p_row;
      if (out.p_total) out.p_total->data()[t] = row.p_total;
      if (out.p_channels) out.p_channels->data()[t] = row.p_channels;
    }
  }
}

// The rows that raise an alarm, or all of them.
std::vector<Alarm> watch_rows(TimedFilter& timed, const RowsIn& rows,
                              const std::optional<RowsIn>& exposures,
                              const std::optional<IndicesIn>& sequences, const AlarmRate& rate,
                              bool every_row) {
  const nb::gil_scoped_release release;
  if (!timed.watch) timed.watch.emplace(rate);
  SignalWatch signals;
  SequenceBegins begins(sequences);
  Observation y;
  std::vector<Alarm> found;
  for (std::size_t t = 0; t < rows.shape(0); ++t, signals.look()) {
    assign_row(rows, exposures, t, timed.time + 1, y);
    y.set_begins_sequence(begins.at(t));
    timed.filter.step(y);
    const Alarm& alarm = (*timed.watch)(timed.filter.engine(), y, ++timed.time);
    if (alarm.is_alarm || every_row) found.push_back(alarm);
  }
  return found;
}

// As the command prints it, with the index of a channel for its name.
nb::dict dict_of(const Alarm& alarm) {
  nb::dict fields;
  fields["t"] = alarm.t;
  fields["alarm"] = alarm.is_alarm;
  fields["p"] = alarm.p;
  fields["p_row"] = alarm.p_row;
  fields["p_total"] = alarm.p_total;
  fields["p_channels"] = alarm.p_channels;
  nb::dict total;
  total["expected"] = alarm.expected_total;
  total["seen"] = alarm.seen_total;
  fields["total"] = total;
  nb::list channels;
  for (const auto& [cell, rows] : alarm.channels) {
    nb::dict channel;
    channel["channel"] = cell.channel;
    channel["expected"] = cell.expected;
    channel["seen"] = cell.seen;
    channel["p"] = cell.p;
    channel["rows"] = rows;
    channels.append(channel);
  }
  fields["channels"] = channels;
  return fields;
}

NumpyTable smooth(const Model& model, const RowsIn& rows, const std::optional<RowsIn>& exposures,
                  const std::optional<IndicesIn>& sequences, bool last, const nb::dict& options,
                  std::uint64_t seed, std::int64_t phase) {
  const EngineConfig engine = engine_config_from(options);
  RowMatrix means;
  {
    const nb::gil_scoped_release release;
    Record record;
    SequenceBegins begins(sequences);
    Observation y;
    for (std::size_t t = 0; t < rows.shape(0); ++t) {
      assign_row(rows, exposures, t, static_cast<std::int64_t>(t + 1), y);
      y.set_begins_sequence(begins.at(t));
      record.add(y);
    }
    means = smoothed_activations(estimate_of(model, last), model.background, record, engine, seed,
                                 phase);
  }
  return to_numpy(std::move(means));
}

// Of predictions of the same observations by several models, one column each: as the command's
// compare has it.
nb::tuple compare_scores(const RowsIn& log_predictive, const std::vector<std::string>& names,
                         const std::vector<const Model*>& models) {
  const std::size_t count = log_predictive.shape(1);
  PairedScores scores(static_cast<Index>(count));
  for (std::size_t t = 0; t < log_predictive.shape(0); ++t) {
    scores.add({log_predictive.data() + t * count, count});
  }
  std::vector<std::string> descriptions;
  for (const Model* model : models) descriptions.push_back(description_of(*model));
  std::vector<std::tuple<double, double, double>> rows;
  for (Index i = 0; i < scores.num_candidates(); ++i) {
    const Gain gain = scores.difference(i, scores.best());
    rows.emplace_back(scores.mean(i), gain.mean, gain.standard_error);
  }
  return nb::make_tuple(scores.observations(), scores.left_out(), scores.best(), rows, descriptions,
                        verdict(scores, names, descriptions));
}

Model read(const std::string& name, const std::optional<nb::object>& prior) {
  return prior ? read_model(name, wrap_prior(*prior)) : read_model(name);
}

void bind_filter(nb::module_& module) {
  nb::class_<TimedFilter>(module, "Filter", "A model at work on a stream, parameters held.")
      .def(
          "__init__",
          [](TimedFilter* at, const Model& model, bool last, const nb::dict& options,
             std::uint64_t seed, std::int64_t phase, bool with_error) {
            new (at) TimedFilter(model, last, engine_config_from(options), seed, phase, with_error);
          },
          nb::arg("model"), nb::arg("last"), nb::arg("options"), nb::arg("seed"), nb::arg("phase"),
          nb::arg("with_error") = false)
      .def(
          "run",
          [](TimedFilter& filter, const RowsIn& rows, std::optional<RowsIn> exposures,
             std::optional<IndicesIn> sequences, std::optional<RowsOut> activations,
             std::optional<RowOut> log_predictive, std::optional<RowsOut> predicted,
             std::optional<RowOut> tail_probability, bool alone, std::optional<RowOut> p_total,
             std::optional<RowOut> p_channels) {
            run(filter, rows, exposures, sequences,
                {activations, log_predictive, predicted, tail_probability, p_total, p_channels},
                alone);
          },
          nb::arg("rows").noconvert(), nb::arg("exposures").noconvert().none(),
          nb::arg("sequences").noconvert().none(), nb::arg("activations").noconvert().none(),
          nb::arg("log_predictive").noconvert().none(), nb::arg("predicted").noconvert().none(),
          nb::arg("tail_probability").noconvert().none(), nb::arg("alone"),
          nb::arg("p_total").noconvert().none() = nb::none(),
          nb::arg("p_channels").noconvert().none() = nb::none())
      .def("standard_error",
           [](const TimedFilter& timed) {
             return timed.error ? timed.error->standard_error() : 0.0;
           })
      .def(
          "watch",
          [](TimedFilter& filter, const RowsIn& rows, std::optional<RowsIn> exposures,
             std::optional<IndicesIn> sequences, const std::string& rate, bool every_row) {
            nb::list alarms;
            for (const Alarm& alarm : watch_rows(filter, rows, exposures, sequences,
                                                 AlarmRate::parse(rate), every_row)) {
              alarms.append(dict_of(alarm));
            }
            return alarms;
          },
          nb::arg("rows").noconvert(), nb::arg("exposures").noconvert().none(),
          nb::arg("sequences").noconvert().none(), nb::arg("rate"), nb::arg("every_row"))
      .def(
          "forecast",
          [](const TimedFilter& timed, Index horizon, const std::vector<double>& quantiles,
             bool total, Index draws, std::uint64_t seed) {
            ForecastTables tables;
            {
              const nb::gil_scoped_release release;
              tables = tables_of(timed.filter.forecast({quantiles, total, draws, seed}), horizon,
                                 static_cast<Index>(quantiles.size()));
            }
            return to_numpy(std::move(tables));
          },
          nb::arg("horizon"), nb::arg("quantiles"), nb::arg("total"), nb::arg("draws"),
          nb::arg("seed"));
}

}  // namespace

void bind_model(nb::module_& module) {
  nb::class_<Model>(module, "FittedModel", "What a fit has found; see headwater.Model.")
      .def("basis",
           [](const Model& model, bool last) {
             return to_numpy(basis_of(estimate_of(model, last), model.background));
           })
      .def("background",
           [](const Model& model, bool last) -> std::optional<NumpyVector> {
             if (!model.background) return std::nullopt;
             return vector_to_numpy(background_of(estimate_of(model, last), true));
           })
      .def("parameters",
           [](const Model& model, bool last) {
             return to_dict(estimate_of(model, last).prior.parameters());
           })
      .def("counts",
           [](const Model& model, bool last) {
             const AnyLaw& law = estimate_of(model, last).law;
             Parameters parameters = law.parameters();
             for (Parameter& parameter : parameters) {
               if (parameter.name == "level_persistence") parameter.name = "persistence";
             }
             nb::dict counts = to_dict(parameters);
             counts["law"] = law->name();
             return counts;
           })
      .def("periods",
           [](const Model& model, bool last) {
             nb::dict periods;
             for (const Matrix& profile : estimate_of(model, last).season.profiles()) {
               periods[nb::cast(profile.cols())] = to_numpy(profile);
             }
             return periods;
           })
      .def("channel_periods",
           [](const Model& model, bool last) {
             nb::dict periods;
             for (const Matrix& gains : estimate_of(model, last).season.channel_profiles()) {
               periods[nb::cast(gains.cols())] = to_numpy(gains);
             }
             return periods;
           })
      .def("constants",
           [](const Model& model) { return to_dict(model.reported.prior.constants()); })
      .def("trace", trace_of)
      .def("options", options_of)
      .def("smooth", smooth)
      .def("quality_notes", [](const Model& model) { return quality_notes(model); })
      .def("over_running_mean",
           [](const Model& model) {
             const GainOverMean& mean = model.over_running_mean;
             return std::tuple(mean.gain, mean.standard_error, mean.observations);
           })
      .def("standard_errors",
           [](const Model& model) { return errors_to_python(model.standard_errors); })
      .def("choice_of_prior",
           [](const Model& model) {
             std::vector<std::tuple<std::string, std::string, double, double, bool>> rows;
             for (const PriorScore& row : model.choice_of_prior) {
               rows.emplace_back(row.prior, row.law, row.score, row.standard_error, row.chosen);
             }
             return rows;
           })
      .def("stability",
           [](const Model& model) {
             return std::pair(model.stability.restarts, model.stability.found);
           })
      .def("set_stability",
           [](Model& model, const std::vector<const Model*>& others) {
             std::vector<Model> copies;
             for (const Model* other : others) copies.push_back(*other);
             model.stability = stability_of(model, copies);
           })
      .def("save", [](const Model& model, const std::string& name) { write_model(model, name); })
      .def_prop_ro("prior", [](const Model& model) { return model.reported.prior.name(); })
      .def_prop_ro("names", [](const Model& model) { return names_to_python(model.names); })
      .def_prop_ro("num_channels", &Model::num_channels)
      .def_prop_ro("num_components", &Model::num_components)
      .def_prop_ro("engine", [](const Model& model) { return to_string(model.engine); })
      .def_prop_ro("method", [](const Model& model) { return to_string(model.method); })
      .def_ro("seed", &Model::seed)
      .def_ro("version", &Model::version)
      .def_ro("observations", &Model::observations)
      .def_ro("impossible_observations", &Model::impossible_observations)
      .def_ro("revivals", &Model::revivals)
      .def_ro("iterations", &Model::iterations)
      .def_ro("converged", &Model::converged)
      .def_prop_ro("has_hardly_moved", &Model::has_hardly_moved)
      .def_ro("log_likelihood", &Model::log_likelihood)
      .def_ro("log_likelihood_after_start", &Model::log_likelihood_after_start)
      .def_ro("observations_after_start", &Model::observations_after_start);
  module.def("compare_scores", compare_scores, nb::arg("log_predictive").noconvert(),
             nb::arg("names"), nb::arg("models"));
  module.def("read_model", read, nb::arg("name"), nb::arg("prior") = nb::none());
  module.def(
      "order_by_name",
      [](const std::vector<nb::bytes>& expected, const std::vector<nb::bytes>& found,
         const std::string& subject, const std::string& model) {
        return order_by_name(to_names(expected), to_names(found), subject, model);
      },
      nb::arg("expected"), nb::arg("found"), nb::arg("subject"), nb::arg("model"));
  bind_filter(module);
}

}  // namespace headwater::python
