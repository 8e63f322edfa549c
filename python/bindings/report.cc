#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <optional>

#include "arrays.hpp"
#include "headwater/report/page.hpp"
#include "headwater/report/state_json.hpp"
#include "headwater/report/stream_report.hpp"
#include "module.hpp"
#include "options.hpp"
#include "signals.hpp"

namespace headwater::python {

namespace {

// A stream that a model is shown with. The time of a row is its number, from 0.
struct TimedReporter {
  StreamReporter reporter;
  std::int64_t time = 0;
};

void add_rows(TimedReporter& timed, const RowsIn& rows, const std::optional<RowsIn>& exposures,
              const std::optional<IndicesIn>& sequences) {
  const nb::gil_scoped_release release;
  SignalWatch watch;
  SequenceBegins begins(sequences);
  Observation y;
  for (std::size_t t = 0; t < rows.shape(0); ++t, watch.look()) {
    assign_row(rows, exposures, t, timed.time + 1, y);
    y.set_begins_sequence(begins.at(t));
    y.set_time(static_cast<double>(timed.time++));
    timed.reporter.add(y);
  }
}

// times: of each row, and of the steps after the last one, if they are known.
std::string page_of(const Model& model, TimedReporter* timed, const std::string& title, bool last,
                    const std::vector<std::string>& times,
                    std::function<std::string(std::int64_t)> time_after,
                    const std::optional<RowsIn>& truth) {
  StateParts parts = {.model = model, .last = last, .title = title, .names = model.names};
  if (truth) parts.truth = as_map(*truth);
  std::optional<StreamReport> stream;
  if (timed != nullptr) {
    stream = timed->reporter.finish();
    parts.stream = &*stream;
    parts.data = "Y";
  }
  if (!times.empty()) {
    parts.time_text = [&times](double row) { return times.at(static_cast<std::size_t>(row)); };
    parts.time_after = std::move(time_after);
  }
  return report_page(title + " · headwater", state_json(parts));
}

}  // namespace

void bind_report(nb::module_& module) {
  nb::class_<TimedReporter>(module, "Reporter", "Gathers what a report shows of a stream.")
      .def(
          "__init__",
          [](TimedReporter* at, const Model& model, bool last, const nb::dict& options,
             std::uint64_t seed, std::int64_t phase, Index horizon, double rows) {
            new (at) TimedReporter{StreamReporter(model, {.engine = engine_config_from(options),
                                                          .seed = seed,
                                                          .phase = phase,
                                                          .horizon = horizon,
                                                          .last = last})};
            at->reporter.expect_rows(rows);
          },
          nb::arg("model"), nb::arg("last"), nb::arg("options"), nb::arg("seed"), nb::arg("phase"),
          nb::arg("horizon"), nb::arg("rows"))
      .def("add", add_rows, nb::arg("rows").noconvert(), nb::arg("exposures").noconvert().none(),
           nb::arg("sequences").noconvert().none());
  module.def("has_pages", has_pages);
  module.def("report_page", page_of, nb::arg("model"), nb::arg("stream").none(), nb::arg("title"),
             nb::arg("last"), nb::arg("times"), nb::arg("time_after").none(),
             nb::arg("truth").noconvert().none());
}

}  // namespace headwater::python
