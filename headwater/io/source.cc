#include "headwater/io/source.hpp"

#include "headwater/io/by_extension.hpp"
#include "headwater/io/cell.hpp"
#include "headwater/io/csv.hpp"
#include "headwater/io/npy.hpp"

namespace headwater {
namespace {

using OpenSource = std::unique_ptr<ObservationSource>(const std::string&, const CellRules&);

constexpr FileKind<OpenSource> kSources[] = {
    {".csv", open_csv},
    {".tsv", open_tsv},
    {".npy", open_npy},
};

std::unique_ptr<ObservationSource> open_by_name(const std::string& name, const CellRules& rules) {
  if (name == "-") return open_standard_input(rules);
  return choose_by_extension(name, kSources)(name, rules);
}

}  // namespace

std::unique_ptr<ObservationSource> open_source(const std::string& name) {
  return open_by_name(name, {});
}

RowMatrix read_matrix(const std::string& name) {
  const auto source = open_by_name(name, {.subject = "entries", .allow_missing = false});
  std::vector<double> row;
  std::vector<double> values;
  while (source->next(row)) values.insert(values.end(), row.begin(), row.end());
  const Index num_columns = source->num_channels();
  const Index num_rows = static_cast<Index>(values.size()) / num_columns;
  return Eigen::Map<const RowMatrix>(values.data(), num_rows, num_columns);
}

}  // namespace headwater
