#include "headwater/source.hpp"

#include <fmt/format.h>

#include "headwater/io/by_extension.hpp"
#include "headwater/io/cell.hpp"
#include "headwater/io/hdf5/hdf5_child.hpp"
#include "headwater/io/hdf5/hdf5_source.hpp"
#include "headwater/io/mtx/mtx.hpp"
#include "headwater/io/npy/npy.hpp"
#include "headwater/io/text/csv.hpp"
#include "headwater/io/text/json_lines.hpp"
#include "headwater/io/text/text_file.hpp"

namespace headwater {
namespace {

struct KnownExtension {
  std::string_view extension;
  DataFormat format;
};

constexpr KnownExtension kExtensions[] = {
    {".csv", DataFormat::csv},           {".tsv", DataFormat::tsv},
    {".jsonl", DataFormat::json_lines},  {".ndjson", DataFormat::json_lines},
    {".mtx", DataFormat::matrix_market}, {".npy", DataFormat::npy},
};

constexpr std::string_view kExpected =
    ".csv, .tsv, .jsonl, .mtx (each also with .gz), .npy or FILE.h5:/DATASET";

bool is_compressed(const std::string& name) { return extension_of(name) == ".gz"; }

DataFormat format_by_name(const std::string& name) {
  if (name == "-" || is_below_dev(name)) return DataFormat::csv;
  const std::string extension =
      extension_of(is_compressed(name) ? name.substr(0, name.size() - 3) : name);
  for (const KnownExtension& known : kExtensions) {
    if (extension == known.extension) return known.format;
  }
  throw InputError(fmt::format("{}: unknown kind of file; expected {}", name, kExpected));
}

std::unique_ptr<ObservationSource> open_npy(const std::string& name, const CellRules& rules) {
  if (name == "-" || is_compressed(name)) {
    throw UsageError(fmt::format("{}: NPY can only be read from a file, and not compressed",
                                 name == "-" ? "standard input" : name));
  }
  return std::make_unique<NpySource>(name, rules);
}

void check_can_follow(const std::string& name, bool has_lines, const SourceOptions& options) {
  if (options.follow && !has_lines) {
    throw UsageError(fmt::format("{}: cannot be followed; .csv, .tsv and .jsonl can", name));
  }
}

void check_can_have_header(const std::string& name, bool is_table, const SourceOptions& options) {
  const bool is_told = options.header == HeaderRow::present || options.header == HeaderRow::absent;
  if (is_told && !is_table) {
    throw UsageError(
        fmt::format("{}: has no header row; only .csv and .tsv files can have one", name));
  }
  if (!options.index_column.empty() && options.index_column != "none" && !is_table) {
    throw UsageError(
        fmt::format("{}: has no index column; only .csv and .tsv files can have one", name));
  }
}

void check_can_have_columns(const std::string& name, DataFormat format,
                            const SourceOptions& options) {
  if (format == DataFormat::csv || format == DataFormat::tsv || format == DataFormat::json_lines) {
    return;
  }
  if (!options.time_column.empty()) {
    throw UsageError(
        fmt::format("{}: has no time column; only .csv, .tsv and .jsonl files can have one", name));
  }
  if (options.sequence_column.empty()) return;
  throw UsageError(fmt::format(
      "{}: has no sequence column; .csv, .tsv and .jsonl files can have one, and .npy and HDF5 "
      "data can have three dimensions: sequence, time and channel",
      name));
}

std::unique_ptr<ObservationSource> open_table(const std::string& name,
                                              std::optional<char> separator, const CellRules& rules,
                                              const SourceOptions& options) {
  return std::make_unique<CsvSource>(open_text(name, options),
                                     CsvOptions{.separator = separator,
                                                .header = options.header,
                                                .index_column = options.index_column,
                                                .sequence_column = options.sequence_column,
                                                .time_column = options.time_column,
                                                .memory = options.memory,
                                                .rules = rules});
}

std::unique_ptr<ObservationSource> open_as(DataFormat format, const std::string& name,
                                           const CellRules& rules, const SourceOptions& options) {
  check_can_follow(name, format != DataFormat::npy && format != DataFormat::matrix_market, options);
  check_can_have_header(name, format == DataFormat::csv || format == DataFormat::tsv, options);
  check_can_have_columns(name, format, options);
  switch (format) {
    case DataFormat::npy:
      return open_npy(name, rules);
    case DataFormat::matrix_market:
      return open_mtx(name, rules, options);
    case DataFormat::json_lines:
      return std::make_unique<JsonLinesSource>(
          open_text(name, options), rules,
          JsonFields{options.sequence_column, options.time_column, options.memory.sequence});
    case DataFormat::tsv:
      return open_table(name, '\t', rules, options);
    case DataFormat::csv:
    case DataFormat::by_name:
      break;
  }
  return open_table(name, std::nullopt, rules, options);
}

std::unique_ptr<Hdf5Blocks> open_blocks(const Hdf5Name& name, const SourceOptions& options) {
  if (options.hdf5_reader.empty()) return open_hdf5_blocks(name);
  return receive_hdf5_blocks(options.hdf5_reader, name, options.should_stop);
}

std::unique_ptr<ObservationSource> open_by_rules(const std::string& name, const CellRules& rules,
                                                 const SourceOptions& options) {
  if (options.format != DataFormat::by_name) return open_as(options.format, name, rules, options);
  if (auto parts = split_hdf5_name(name)) {
    parts->may_leave_file = options.allow_external;
    check_can_follow(name, false, options);
    check_can_have_header(name, false, options);
    check_can_have_columns(name, DataFormat::by_name, options);
    const auto open = [options](const Hdf5Name& part) { return open_blocks(part, options); };
    return std::make_unique<Hdf5Source>(*parts, open(*parts), rules, open);
  }
  return open_as(format_by_name(name), name, rules, options);
}

}  // namespace

bool ObservationSource::next(Observation& y) {
  if (!next(dense_)) return false;
  y.assign(dense_);
  y.set_begins_sequence(begins_sequence());
  return true;
}

std::unique_ptr<ObservationSource> open_source(const std::string& name,
                                               const SourceOptions& options) {
  return open_by_rules(name, {.subject = options.subject}, options);
}

RowMatrix read_matrix(const std::string& name, const SourceOptions& options) {
  SourceOptions matrix_options = options;
  if (options.header == HeaderRow::automatic) matrix_options.header = HeaderRow::by_names;
  const auto source =
      open_by_rules(name, {.subject = "entries", .allow_missing = false}, matrix_options);
  std::vector<double> row;
  std::vector<double> values;
  while (source->next(row)) {
    if (source->begins_sequence()) {
      throw InputError(fmt::format("{}: has 3 dimensions; expected 2", name));
    }
    values.insert(values.end(), row.begin(), row.end());
  }
  const Index num_columns = source->num_channels();
  const Index num_rows = static_cast<Index>(values.size()) / num_columns;
  return Eigen::Map<const RowMatrix>(values.data(), num_rows, num_columns);
}

}  // namespace headwater
