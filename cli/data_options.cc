#include "data_options.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include "hdf5_reader.hpp"
#include "options.hpp"

using namespace headwater;

OptionTable<DataOptions> DataOptions::table() {
  using namespace headwater::rows;
  const Choices<DataFormat> formats = {
      {"auto", DataFormat::by_name},      {"csv", DataFormat::csv},
      {"tsv", DataFormat::tsv},           {"jsonl", DataFormat::json_lines},
      {"mtx", DataFormat::matrix_market}, {"npy", DataFormat::npy}};
  const Choices<HeaderRow> headers = {
      {"auto", HeaderRow::automatic}, {"yes", HeaderRow::present}, {"no", HeaderRow::absent}};
  const Choices<BadRowPolicy> policies = {{"fail", BadRowPolicy::kFail},
                                          {"skip", BadRowPolicy::kSkip}};
  return in_group<DataOptions>(
      "Data",
      {text({.name = "DATA",
             .help = "T x M, one observation a row: .csv, .tsv, .jsonl, .mtx (each also with .gz), "
                     ".npy, FILE.h5:/DATASET, or - (CSV lines from standard input)",
             .is_required = true,
             .is_positional = true},
            &DataOptions::name, kFileName),
       choice({.name = "format", .help = "format of DATA; auto: by its name"}, &DataOptions::format,
              formats),
       choice({.name = "header",
               .help = "whether the first row of .csv or .tsv holds names; auto: yes, if one of "
                       "its cells is not a number"},
              &DataOptions::header, headers),
       text({.name = "index-column",
             .value_name = "NAME|NUMBER|none",
             .help = "column of .csv or .tsv that numbers or dates the rows and is not a channel: "
                     "its name in the header, its number from 1, or none; by default, a first "
                     "column without a name beside columns with names"},
            &DataOptions::index_column, "the name or the number of a column, or none"),
       text({.name = "sequence-column",
             .value_name = "NAME|NUMBER",
             .help = "column of .csv or .tsv (field of .jsonl) that names the sequence of each "
                     "row, such as a trial, and is not a channel; rows of one sequence must follow "
                     "each other, and the chain of activations begins anew with each sequence"},
            &DataOptions::sequence_column, "the name or the number of a column"),
       text({.name = "time-column",
             .value_name = "NAME|NUMBER",
             .help = "column of .csv or .tsv (field of .jsonl) with the time of each row, which is "
                     "not a channel: a date and time (ISO 8601), or a number. Rows must be in "
                     "order; the first two say how long a step is; outputs have the time too"},
            &DataOptions::time_column, "the name or the number of a column"),
       whole_number({.name = "max-gap",
                     .help = "most rows that may be missing between two rows by --time-column; "
                             "rows of missing cells take their place"},
                    &DataOptions::max_gap, 0, 1000000000),
       text({.name = "exposure",
             .value_name = "FILE",
             .help = "file of T x M exposures, or T x 1 for all channels: how long, or how much "
                     "of, a channel was observed; expected counts are multiplied by the exposure, "
                     "and 0 makes a cell missing",
             .python_name = "exposure"},
            &DataOptions::exposure, kFileName),
       flag({.name = "allow-external",
             .help = "also read HDF5 data in other files that DATA refers to: by links, external "
                     "storage or virtual datasets"},
            &DataOptions::allow_external),
       choice({.name = "on-bad-row",
               .help = "what happens at a row that cannot be read; fail: the run ends with an "
                       "error; skip: the row is left out and counted"},
              &DataOptions::on_bad_row, policies)});
}

OptionTable<DataOptions> DataOptions::table_with_follow() {
  using namespace headwater::rows;
  return joined<DataOptions>(
      {table(),
       in_group<DataOptions>(
           "Data",
           {flag(
               {.name = "follow",
                .help = "at the end of DATA, wait for more lines, or for a new file of that name"},
               &DataOptions::follow)})});
}

void DataOptions::add_to(RunFiles& files) const {
  files.reads("DATA", name);
  files.reads("--exposure", exposure);
}

bool DataOptions::is_pipe() const {
  struct stat status = {};
  const bool exists =
      name == "-" ? fstat(STDIN_FILENO, &status) == 0 : stat(name.c_str(), &status) == 0;
  return exists && !S_ISREG(status.st_mode);
}

// A pipe that goes on had its header before, if it has one; a program that was started anew may
// send it again.
std::unique_ptr<ObservationSource> DataOptions::open(std::function<bool()> should_stop,
                                                     const PipeBefore& before) const {
  const bool goes_on = before.had_rows && header != HeaderRow::absent && is_pipe();
  return open_source(name, {.format = format,
                            .header = goes_on ? HeaderRow::by_names : header,
                            .index_column = index_column,
                            .sequence_column = sequence_column,
                            .time_column = time_column,
                            .before = before.unread,
                            .memory = before.memory,
                            .follow = follow,
                            .should_stop = std::move(should_stop),
                            .hdf5_reader = hdf5_reader(),
                            .allow_external = allow_external});
}
