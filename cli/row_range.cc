#include "row_range.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "headwater/error.hpp"
#include "headwater/session/options.hpp"
#include "progress.hpp"
#include "ranks.hpp"
#include "words.hpp"

using namespace headwater;

namespace {

[[noreturn]] void end_in_the_middle() {
  say("headwater: stopped by {} in the middle of an observation\n", stop_signal_name());
  _exit(EXIT_FAILURE);
}

}  // namespace

OptionTable<RowOptions> RowOptions::table() {
  using namespace headwater::rows;
  return in_group<RowOptions>(
      "Data",
      {whole_number(
           {.name = "skip",
            .value_name = "N",
            .help = "leave out the first N observations of DATA, as if they were not there"},
           &RowOptions::skip, 0, kMostObservations),
       whole_number({.name = "from",
                     .value_name = "ROW",
                     .help = "filter from the start, but write results only from this observation "
                             "of DATA on, counted from 1"},
                    &RowOptions::from, 1, kMostObservations)});
}

RowRange::RowRange(const RowOptions& options, DataStream& data)
    : options_(options), data_(data), deadline_(end_in_the_middle) {
  while (number_ < options_.skip && next()) {
  }
  num_left_out_ = number_;
  if (number_ < options_.skip && stop_signal() == 0) {
    throw InputError(fmt::format("{}: has {} observations; --skip {} leaves none", data.name(),
                                 with_commas(number_), options_.skip));
  }
}

bool RowRange::next() {
  if (is_stop_requested() || !data_.next()) return false;
  ++number_;
  return true;
}

void RowRange::finish(bool quiet) {
  deadline_.lift();
  const bool is_empty = filtered() == 0 || !is_wanted();
  if (is_empty && stop_signal() != 0) {
    throw InputError(fmt::format("{}: stopped by {} before the first row of results", data_.name(),
                                 stop_signal_name()));
  }
  if (is_empty) {
    throw InputError(fmt::format("{}: has {} observations; {} {} leaves none", data_.name(),
                                 with_commas(number_), filtered() == 0 ? "--skip" : "--from",
                                 filtered() == 0 ? options_.skip : options_.from));
  }
  if (stop_signal() == 0 || quiet) return;
  say("stopped by {} after {} observations\n", stop_signal_name(), with_commas(number_));
}
