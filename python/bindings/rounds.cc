// Fits by rounds: what one process needs to compute statistics for another one.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <vector>

#include "headwater/error.hpp"
#include "headwater/round.hpp"
#include "headwater/source.hpp"
#include "module.hpp"
#include "stream.hpp"

namespace headwater::python {

namespace {

nb::bytes to_bytes(const std::string& text) { return nb::bytes(text.data(), text.size()); }
std::string to_text(const nb::bytes& bytes) { return std::string(bytes.c_str(), bytes.size()); }

// The GIL is released, and several threads may compute at once.
RoundStatistics statistics_of_rows(const Stream& stream, const nb::bytes& round, const RowsIn& rows,
                                   const std::optional<RowsIn>& exposures, std::int64_t index) {
  const std::string bytes = to_text(round);
  const nb::gil_scoped_release release;
  Record record;
  Observation y;
  for (std::size_t t = 0; t < rows.shape(0); ++t) {
    assign_row(rows, exposures, t, static_cast<std::int64_t>(t) + 1, y);
    record.add(y);
  }
  return stream.statistics(bytes, record, index);
}

RoundStatistics statistics_of_sparse(const Stream& stream, const nb::bytes& round,
                                     const RowIn& values, const IndicesIn& columns,
                                     const IndicesIn& begins, Index num_channels,
                                     std::int64_t index) {
  const std::string bytes = to_text(round);
  const nb::gil_scoped_release release;
  Record record;
  Observation y;
  for (std::size_t t = 0; t + 1 < begins.shape(0); ++t) {
    assign_sparse_row(values, columns, begins, t, num_channels, static_cast<std::int64_t>(t) + 1,
                      y);
    record.add(y);
  }
  return stream.statistics(bytes, record, index);
}

RoundStatistics merged(const RoundStatistics& a, const RoundStatistics& b) {
  const nb::gil_scoped_release release;
  RoundStatistics sum = a;
  sum.merge(b);
  return sum;
}

// The rows of a file that is one sequence, NaN where a cell is missing, and the channels' names.
std::pair<std::vector<std::string>, RowMatrix> read_sequence(const std::string& name) {
  const nb::gil_scoped_release release;
  const auto source = open_source(name);
  std::vector<double> row;
  std::vector<double> all;
  Index num_rows = 0;
  while (source->next(row)) {
    if (num_rows++ > 0 && source->begins_sequence()) {
      throw InputError(name + ": has several sequences; expected one");
    }
    all.insert(all.end(), row.begin(), row.end());
  }
  const Index num_channels = num_rows > 0 ? source->num_channels() : 0;
  return {source->channel_names(), Eigen::Map<const RowMatrix>(all.data(), num_rows, num_channels)};
}

}  // namespace

void bind_rounds(nb::module_& module) {
  nb::class_<RoundStatistics>(module, "RoundStatistics", "See headwater.Statistics.")
      .def(nb::init<>())
      .def("merged", merged)
      .def_prop_ro("sequences", &RoundStatistics::sequences)
      .def_prop_ro("observations", &RoundStatistics::observations)
      .def_prop_ro("log_likelihood", &RoundStatistics::log_likelihood)
      .def("bytes", [](const RoundStatistics& own) { return to_bytes(own.bytes()); })
      .def_static("of_bytes",
                  [](const nb::bytes& bytes) { return RoundStatistics::of_bytes(to_text(bytes)); });
  module.def("round_of", [](Stream& stream) {
    const auto [first, bytes] = stream.round();
    return nb::make_tuple(first, to_bytes(bytes));
  });
  module.def("statistics_of_rows", statistics_of_rows, nb::arg("session"), nb::arg("round"),
             nb::arg("rows").noconvert(), nb::arg("exposures").noconvert() = nb::none(),
             nb::arg("index"));
  module.def("statistics_of_sparse", statistics_of_sparse, nb::arg("session"), nb::arg("round"),
             nb::arg("values").noconvert(), nb::arg("columns").noconvert(),
             nb::arg("begins").noconvert(), nb::arg("num_channels"), nb::arg("index"));
  module.def("wants_start", &Stream::wants_start);
  module.def("begin_rounds", &Stream::begin_rounds);
  module.def("take_in", &Stream::take_in_round);
  module.def("read_sequence", [](const std::string& name) {
    auto [names, rows] = read_sequence(name);
    return nb::make_tuple(names_to_python(names), to_numpy(std::move(rows)));
  });
}

}  // namespace headwater::python
