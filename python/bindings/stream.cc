#include "stream.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "headwater/error.hpp"
#include "headwater/session/checkpoint.hpp"
#include "module.hpp"
#include "options.hpp"
#include "python_prior.hpp"

namespace headwater::python {

namespace {

// The streams as the restarts of one fit, as in the command.
Restarts as_restarts(const std::vector<Stream*>& streams) {
  const Config config =
      streams[0]->with_session([](Session& session, StreamDigest&) { return session.config(); });
  return Restarts(config, static_cast<Index>(streams.size()));
}

void copy_state(Session& from, Session& to) {
  StateArchive state;
  state(from);
  StateArchive archive(state.bytes());
  archive(to);
}

void save_checkpoint(const std::vector<Stream*>& streams, const std::string& name) {
  Restarts restarts = as_restarts(streams);
  Checkpoint checkpoint;
  checkpoint.options = fit_options(restarts);
  for (std::size_t i = 0; i < streams.size(); ++i) {
    streams[i]->with_session([&](Session& session, StreamDigest& seen) {
      copy_state(session, restarts.session(static_cast<Index>(i)));
      checkpoint.seen = seen;
    });
  }
  StateArchive archive;
  archive(restarts);
  checkpoint.state = archive.bytes();
  write_checkpoint(checkpoint, name);
}

void load_checkpoint(const std::vector<Stream*>& streams, const std::string& name) {
  Restarts restarts = as_restarts(streams);
  Checkpoint checkpoint = read_checkpoint(name);
  take_up(checkpoint, name, restarts);
  restarts.hand_on();
  for (std::size_t i = 0; i < streams.size(); ++i) {
    streams[i]->with_session([&](Session& session, StreamDigest& seen) {
      copy_state(restarts.session(static_cast<Index>(i)), session);
      seen = checkpoint.seen;
    });
  }
}

// A prior given by name is also stored in the config, which model files and checkpoints contain.
void make_stream(Stream* at, const nb::object& prior, const nb::dict& parameters,
                 bool per_component, const nb::dict& options) {
  Config config = config_from(options);
  config.counts.parameters = law_parameters_from(parameters);
  if (nb::isinstance<nb::str>(prior) && nb::cast<std::string>(prior) == PriorConfig::kAuto) {
    config.prior = prior_config_from(PriorConfig::kAuto, parameters, per_component);
    new (at) Stream(Session(config));
    return;
  }
  AnyPrior start = prior_for(prior, config.num_components, parameters, per_component);
  config.prior = prior_config_from(start.name(), parameters, per_component);
  new (at) Stream(config, std::move(start));
}

std::unique_ptr<Stream> continue_model(const Model& model, const nb::dict& options, bool follows_on,
                                       std::int64_t forget) {
  Config config = config_of(model);
  change_config(options, config);
  return std::make_unique<Stream>(
      Session(model, config, {.follows_on = follows_on, .forget = forget}));
}

}  // namespace

void bind_stream(nb::module_& module) {
  nb::class_<Stream>(module, "Session", "A fit; see headwater.Stream.")
      .def("__init__", make_stream, nb::arg("prior"), nb::arg("parameters"),
           nb::arg("per_component"), nb::arg("options"))
      .def("update", &Stream::update, nb::arg("y").noconvert(),
           nb::arg("exposure").noconvert() = nb::none(), nb::arg("new_sequence") = false)
      .def("update_rows", &Stream::update_rows, nb::arg("rows").noconvert(),
           nb::arg("exposures").noconvert() = nb::none(),
           nb::arg("sequences").noconvert() = nb::none())
      .def("update_sparse", &Stream::update_sparse, nb::arg("values").noconvert(),
           nb::arg("columns").noconvert(), nb::arg("begins").noconvert(), nb::arg("num_channels"),
           nb::arg("sequences").noconvert() = nb::none())
      .def("finish", &Stream::finish)
      .def("copy", &Stream::copy)
      .def("state",
           [](Stream& stream) {
             const std::string state = stream.state();
             return nb::bytes(state.data(), state.size());
           })
      .def("restore",
           [](Stream& stream, const nb::bytes& state) {
             stream.restore(std::string(state.c_str(), state.size()));
           })
      .def("set_names",
           [](Stream& stream, const std::vector<nb::bytes>& names) {
             stream.set_names(to_names(names));
           })
      .def_prop_ro("names", [](Stream& stream) { return names_to_python(stream.names()); })
      .def("model", &Stream::model)
      .def("standard_errors",
           [](Stream& stream) { return errors_to_python(stream.standard_errors()); })
      .def("forecast", &Stream::forecast, nb::arg("horizon"), nb::arg("quantiles"),
           nb::arg("total"), nb::arg("draws"))
      .def("activation", &Stream::activation)
      .def("report", &Stream::report)
      .def("surprise", &Stream::surprise)
      .def_prop_ro("has_started", &Stream::has_started)
      .def_prop_ro("is_finished", &Stream::is_finished)
      .def_prop_ro("observations", &Stream::observations)
      .def_prop_ro("log_likelihood", &Stream::log_likelihood)
      .def_prop_ro("merit", &Stream::merit)
      .def_prop_ro("start", &Stream::start);
  module.def("continue_model", continue_model, nb::arg("model"), nb::arg("options"),
             nb::arg("follows_on"), nb::arg("forget"));
  module.def("is_model_file", is_model_file, nb::arg("name"));
  module.def("save_checkpoint", save_checkpoint, nb::arg("sessions"), nb::arg("name"));
  module.def("load_checkpoint", load_checkpoint, nb::arg("sessions"), nb::arg("name"));
}

}  // namespace headwater::python
