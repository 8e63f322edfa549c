#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headwater/core/matrix.hpp"
#include "headwater/io/bad_row.hpp"

namespace headwater {

// An observation by the entries that are not zero: channels ascend (from 0), values are positive,
// or NaN where a cell is missing.
struct SparseObservation {
  Index num_channels = 0;
  std::vector<Index> channels;
  std::vector<double> values;
};

// Observations one after another, time runs on. A missing cell is NaN; every other value is finite
// and 0 or more. Whatever is wrong with the data throws InputError that says where.
class ObservationSource {
 public:
  virtual ~ObservationSource() = default;

  virtual Index num_channels() const = 0;

  // Overwrites `values` with the next observation; false at the end, and then they mean nothing.
  virtual bool next(std::vector<double>& values) = 0;

  // The same for the entries that are not zero. A sparse file is never made dense on the way.
  virtual bool next_sparse(SparseObservation& observation);

  // True for files of rows that stand for themselves: CSV, TSV, JSON lines, NPY and HDF5. What is
  // wrong with one row is then thrown as BadRow, and the next call of next() goes on with the row
  // behind it. Any other InputError (a damaged file, a failing disk) is the end of the data, and so
  // is every error of a source that cannot go on: Matrix Market, whose lines are not rows.
  virtual bool can_go_on_after_error() const = 0;

  // How much of the data has been handed out, from 0 to 1; nothing for a pipe.
  virtual std::optional<double> fraction_read() const = 0;

  // Where the last observation came from: "counts.csv:17", "counts.npy: row 17".
  virtual std::string position() const = 0;

 private:
  std::vector<double> dense_;
};

// Beyond so many channels (1 GB an observation) a file is refused.
inline constexpr Index kMostChannels = Index{1} << 27;

enum class DataFormat { by_name, csv, tsv, json_lines, matrix_market, npy };

// Whether the first row of a .csv or .tsv file holds the names of its columns.
enum class HeaderRow {
  automatic,  // as by_names; a row of numbers that look like names is refused
  by_names,   // if one of its cells is neither a number nor missing
  present,
  absent,
};

struct SourceOptions {
  DataFormat format = DataFormat::by_name;
  // Other formats have no header, and refuse `present` and `absent`.
  HeaderRow header = HeaderRow::automatic;
  // At the end of a regular file wait for more, for lines of text. A line is handed out when it has
  // ended, so that half a line at the end is left alone.
  bool follow = false;
  // Asked about 20 times a second while there is nothing to read, from a followed file or a pipe;
  // true makes that the end of the data.
  std::function<bool()> should_stop = {};
  // How to start a program that reads HDF5 data for this process, which a damaged file then cannot
  // bring down (hdf5_child.hpp); empty: this process does it.
  std::vector<std::string> hdf5_reader = {};
};

// Opens by name .csv, .tsv, .jsonl (or .ndjson), .mtx, each also with .gz behind it, .npy and
// FILE.h5:/DATASET; "-" is CSV from standard input, and so is anything below /dev/ (a shell's
// <(...) has such a name), unless a format is given. Reads ahead to the first observation.
std::unique_ptr<ObservationSource> open_source(const std::string& name,
                                               const SourceOptions& options = {});

// The whole of such a file, rows as they stand there: a basis, activations. No cell may be missing.
// A header that is `automatic` is recognised by names alone: 0,1,2 may well be a row of a basis.
RowMatrix read_matrix(const std::string& name, const SourceOptions& options = {});

}  // namespace headwater
