#include "data_options.hpp"

#include <CLI/CLI.hpp>

#include "hdf5_reader.hpp"
#include "options.hpp"

using headwater::DataFormat;
using headwater::HeaderRow;

void DataOptions::add_to(CLI::App& command) {
  command
      .add_option(
          "DATA", name,
          "T x M, one observation a row: .csv, .tsv, .jsonl, .mtx (each also with .gz), .npy, "
          "FILE.h5:/DATASET, or - (CSV lines)")
      ->required();
  command.add_option("--format", format, "how to read DATA; auto: by its name")
      ->type_name("auto|csv|tsv|jsonl|mtx|npy")
      ->capture_default_str();
  command
      .add_option("--header", header,
                  "whether the first row of .csv or .tsv holds names; auto: if one of its cells is "
                  "not a number")
      ->type_name("auto|yes|no")
      ->capture_default_str();
  command
      .add_option(
          "--exposure", exposure,
          "T x M, or T x 1 for all channels: how long, or how much of, a channel was looked "
          "at; intensities are multiplied by it, and 0 is a missing cell")
      ->type_name("FILE");
  command
      .add_option("--on-bad-row", on_bad_row,
                  "a row that cannot be read ends the run, or is left out and counted")
      ->type_name("fail|skip")
      ->check(CLI::IsMember({"fail", "skip"}))
      ->capture_default_str();
}

void DataOptions::add_follow_to(CLI::App& command) {
  command.add_flag("--follow", follow, "at the end of DATA wait for more lines");
}

std::unique_ptr<headwater::ObservationSource> DataOptions::open(
    std::function<bool()> should_stop) const {
  return headwater::open_source(name,
                                {.format = choose<DataFormat>("format", format,
                                                              {{"auto", DataFormat::by_name},
                                                               {"csv", DataFormat::csv},
                                                               {"tsv", DataFormat::tsv},
                                                               {"jsonl", DataFormat::json_lines},
                                                               {"mtx", DataFormat::matrix_market},
                                                               {"npy", DataFormat::npy}}),
                                 .header = choose<HeaderRow>("header", header,
                                                             {{"auto", HeaderRow::automatic},
                                                              {"yes", HeaderRow::present},
                                                              {"no", HeaderRow::absent}}),
                                 .follow = follow,
                                 .should_stop = std::move(should_stop),
                                 .hdf5_reader = hdf5_reader()});
}
