#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headwater/error.hpp"
#include "headwater/export.hpp"
#include "headwater/matrix.hpp"
#include "headwater/observation.hpp"

namespace headwater {

// What a source must know to go on with a pipe in the middle, beside the bytes that come: of the
// last observation. Empty texts where there is none.
struct SourceMemory {
  std::string header;    // the line, which is not sent again
  std::string sequence;  // the text that names it
  std::string time;
  double step = 0;  // between two rows; 0: not known yet

  void exchange(StateArchive& archive) { archive(header, sequence, time, step); }
};

// Observations in the order of time. A missing cell is NaN; every other value is finite and 0 or
// more. Invalid data throw an InputError that says where the error is.
class HEADWATER_EXPORT ObservationSource {
 public:
  virtual ~ObservationSource() = default;

  virtual Index num_channels() const = 0;
  // From the header, one for each channel; none if there is no header.
  virtual std::vector<std::string> channel_names() const { return {}; }

  // Overwrites `values` with the next observation. Returns false at the end; `values` is then
  // unspecified.
  virtual bool next(std::vector<double>& values) = 0;

  // The same as an Observation. Sources of sparse files fill it without a dense row.
  virtual bool next(Observation& y);

  // Before the first row: from here on next(values) reads these columns alone, so many from the
  // first one. False, and nothing changes, where a format does not allow that.
  virtual bool keep_columns(Index /*first*/, Index /*size*/) { return false; }

  // Whether the last observation begins a new sequence: in a 3-dimensional array, or by the column
  // that SourceOptions::sequence_column names. next(Observation&) says so in the observation too.
  virtual bool begins_sequence() const { return false; }

  // What the last row has in the column that SourceOptions::time_column names.
  virtual std::string time_text() const { return {}; }

  // True for formats whose rows can be read independently: CSV, TSV, JSON lines, NPY and HDF5. An
  // invalid row then throws BadRow, and the next call of next() continues with the following row.
  // Any other InputError (a damaged file, a failing disk) ends the data. So does every error in a
  // Matrix Market file, whose lines are not rows.
  virtual bool can_go_on_after_error() const = 0;

  // The fraction of the data returned so far, from 0 to 1; nothing for a pipe.
  virtual std::optional<double> fraction_read() const = 0;

  // The position of the last observation: "counts.csv:17", "counts.npy: row 17".
  virtual std::string position() const = 0;

  // What was read of a pipe beyond the last observation, or with its row: SourceOptions::before of
  // a source that is to go on with the same pipe. Empty for files, and for formats that cannot be
  // continued in the middle.
  virtual std::string unread(bool /*with_last_row*/) const { return {}; }

  // ... and SourceOptions::memory of such a source.
  virtual void remember(SourceMemory& /*memory*/, bool /*with_last_row*/) const {}

  // How often a followed file was replaced by a new one of its name, up to the last observation.
  virtual std::int64_t num_replaced() const { return 0; }

 private:
  std::vector<double> dense_;
};

// A file with more channels is refused: an observation would need over 1 GB.
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
  // The column of a .csv or .tsv file that numbers or dates the rows and is not a channel: its name
  // in the header, its number from 1, or "none". Empty: a first column without a name in a header
  // of names is one; a first column with a name like index, id, time or date is refused.
  std::string index_column = {};
  // The column of a .csv or .tsv file that says which sequence a row belongs to, and is not a
  // channel: its name in the header, or its number from 1. Rows that follow each other and have the
  // same text there are one sequence; a text that comes back later is an error. To tell, a hash of
  // each text is kept: 8 bytes a sequence, and a little more. In .jsonl, the name of a field beside
  // "y".
  std::string sequence_column = {};
  // The column that says when a row was made, and is not a channel; in .jsonl, the name of a field.
  std::string time_column = {};
  // Bytes that come before those of a pipe of text: see ObservationSource::unread().
  std::string before = {};
  SourceMemory memory = {};
  // What the numbers are, for messages: a literal.
  std::string_view subject = "observations";
  // At the end of a regular file of text, wait for more lines. An unfinished last line is not
  // returned until it ends. If a new file takes the name, its lines come next.
  bool follow = false;
  // Called about 20 times a second while a followed file or a pipe has nothing to read. If it
  // returns true, the data end there. A text that is stopped before its first row has 0 channels.
  std::function<bool()> should_stop = {};
  // The command that starts a separate process to read HDF5 data, so that a damaged file cannot
  // crash this process (hdf5_child.hpp). If empty, this process reads the file itself.
  std::vector<std::string> hdf5_reader = {};
  // Whether HDF5 data may be in other files that the file refers to: by links, by external storage
  // or as a virtual dataset. A file from elsewhere could name any file that you can read.
  bool allow_external = false;
};

// Opens .csv, .tsv, .jsonl (or .ndjson) and .mtx files, also compressed as .gz, and .npy and
// FILE.h5:/DATASET. "-" is CSV from standard input; names below /dev/ are CSV too (a shell's <(...)
// has such a name). A given format overrides the name. Reads ahead to the first observation.
HEADWATER_EXPORT std::unique_ptr<ObservationSource> open_source(const std::string& name,
                                                                const SourceOptions& options = {});

// Reads such a file as one matrix, for instance a basis or activations. No cell may be missing. A
// header that is `automatic` is recognised by names alone: 0,1,2 may well be a row of a basis.
HEADWATER_EXPORT RowMatrix read_matrix(const std::string& name, const SourceOptions& options = {});

}  // namespace headwater
