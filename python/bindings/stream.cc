#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include <mutex>
#include <optional>
#include <type_traits>

#include "arrays.hpp"
#include "headwater/session/session.hpp"
#include "module.hpp"
#include "options.hpp"
#include "python_prior.hpp"
#include "signals.hpp"

namespace headwater::python {

namespace {

// A Session that Python threads may share: they work on it one at a time, without the GIL.
class Stream {
 public:
  Stream(const Config& config, AnyPrior prior) : session_(config, std::move(prior)) { listen(); }
  Stream(const Stream& other) : session_(other.session_), report_(other.report_) { listen(); }

  void update(const RowIn& y) {
    locked([&] { session_.update({y.data(), y.shape(0)}); });
  }
  void update_rows(const RowsIn& rows) {
    locked([&] {
      for (std::size_t t = 0; t < rows.shape(0); ++t) session_.update(row_of(rows, t));
    });
  }
  void finish() {
    locked([&] { session_.finish(); });
  }

  std::unique_ptr<Stream> copy() {
    return locked([&] { return std::make_unique<Stream>(*this); });
  }
  Model model() {
    return locked([&] { return session_.model(); });
  }
  bool has_started() {
    return locked([&] { return session_.learner() != nullptr; });
  }
  bool is_finished() {
    return locked([&] { return session_.is_finished(); });
  }
  std::int64_t observations() {
    return locked([&] { return session_.observations(); });
  }
  double log_likelihood() {
    return locked([&] { return session_.log_likelihood(); });
  }
  std::string start() {
    return locked([&] { return session_.start_report().chosen; });
  }
  NumpyVector activation() {
    return vector_to_numpy(locked([&] { return session_.filtered_activation(); }));
  }
  NumpyTable forecast(Index horizon) {
    return to_numpy(locked([&]() -> RowMatrix { return session_.forecast(horizon).transpose(); }));
  }
  // The fields of the command's --log.
  std::optional<nb::dict> report() {
    const std::optional<StepReport> last = locked([&] { return report_; });
    if (!last) return std::nullopt;
    nb::dict fields;
    fields["t"] = last->t;
    fields["log_predictive"] = last->filter.log_predictive;
    if (last->filter.effective_size > 0) {
      fields["ess"] = last->filter.effective_size;
      fields["resampled"] = last->filter.resampled;
      fields["unique_ancestors"] = last->filter.unique_ancestors;
    }
    fields["step"] = last->step_size;
    fields["updated"] = last->updated;
    fields["impossible"] = last->filter.impossible;
    if (last->revived >= 0) fields["revived"] = last->revived + 1;
    return fields;
  }

 private:
  void listen() {
    session_.on_step([this](const StepReport& report) {
      report_ = report;
      watch_.look();
    });
    session_.on_search([](std::int64_t, std::int64_t) { heed_signals(); });
    session_.on_iteration([](std::int64_t, double, const Estimate&) { heed_signals(); });
  }

  // The GIL is let go of first: whoever works on the session may want it for a prior in Python.
  template <class Work>
  std::invoke_result_t<Work> locked(const Work& work) {
    const nb::gil_scoped_release release;
    const std::lock_guard lock(mutex_);
    return work();
  }

  std::recursive_mutex mutex_;  // a signal's handler may ask the stream that it interrupts
  Session session_;
  std::optional<StepReport> report_;
  SignalWatch watch_;
};

}  // namespace

void bind_stream(nb::module_& module) {
  nb::class_<Stream>(module, "Session", "A fit; see headwater.Stream.")
      .def(
          "__init__",
          [](Stream* at, const nb::object& prior, const nb::dict& parameters, bool per_component,
             const nb::dict& options) {
            Config config = config_from(options);
            AnyPrior start = prior_for(prior, config.num_components, parameters, per_component);
            config.prior.name = start.name();
            config.prior.per_component = per_component;
            new (at) Stream(config, std::move(start));
          },
          nb::arg("prior"), nb::arg("parameters"), nb::arg("per_component"), nb::arg("options"))
      .def("update", &Stream::update, nb::arg("y").noconvert())
      .def("update_rows", &Stream::update_rows, nb::arg("rows").noconvert())
      .def("finish", &Stream::finish)
      .def("copy", &Stream::copy)
      .def("model", &Stream::model)
      .def("forecast", &Stream::forecast, nb::arg("horizon"))
      .def_prop_ro("has_started", &Stream::has_started)
      .def_prop_ro("is_finished", &Stream::is_finished)
      .def_prop_ro("observations", &Stream::observations)
      .def_prop_ro("log_likelihood", &Stream::log_likelihood)
      .def_prop_ro("start", &Stream::start)
      .def("activation", &Stream::activation)
      .def("report", &Stream::report);
}

}  // namespace headwater::python
