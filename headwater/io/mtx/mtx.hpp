#pragma once

#include <memory>
#include <string>
#include <vector>

#include "headwater/io/cell.hpp"
#include "headwater/io/mtx/mtx_entries.hpp"
#include "headwater/source.hpp"

namespace headwater {

// Observations from the rows of a sparse matrix whose entries are sorted by row. Memory: one
// observation. Duplicate entries are added up, as in SciPy, MATLAB, Julia and Eigen. The format
// does not define duplicates, and two lines for one cell of a table of counts are usually two
// counts.
class SparseMtxSource final : public ObservationSource {
 public:
  SparseMtxSource(std::unique_ptr<MtxEntries> entries, const MtxHeader& header, std::string name);

  Index num_channels() const override { return header_.num_columns; }
  bool next(std::vector<double>& values) override;
  bool next(Observation& y) override;
  bool can_go_on_after_error() const override { return false; }
  std::optional<double> fraction_read() const override;
  std::string position() const override;

 private:
  bool next_row();
  void merge_duplicates();

  std::unique_ptr<MtxEntries> entries_;
  MtxHeader header_;
  std::string name_;
  std::vector<MtxEntry> row_entries_;  // entries of the current row
  MtxEntry ahead_ = {};
  bool has_ahead_ = false;
  Index row_ = 0;  // rows already returned
};

// Observations from the rows of a dense matrix. The file stores columns one after another, so the
// whole matrix is read first: 8 bytes per cell.
class DenseMtxSource final : public ObservationSource {
 public:
  using ObservationSource::next;
  DenseMtxSource(MtxReader& reader, std::string name);

  Index num_channels() const override { return num_channels_; }
  bool next(std::vector<double>& values) override;
  bool can_go_on_after_error() const override { return false; }
  std::optional<double> fraction_read() const override;
  std::string position() const override;

 private:
  std::string name_;
  Index num_rows_;
  Index num_channels_;
  std::vector<double> cells_;  // column-major
  Index row_ = 0;              // rows already returned
};

// Opens a sparse or dense Matrix Market file. A first pass over a sparse file checks whether its
// entries are sorted by row; if they are, a second pass reads one observation at a time. If they
// are not (most programs write column by column), or if the file cannot be read twice, all entries
// are kept in memory, 16 bytes each.
std::unique_ptr<ObservationSource> open_mtx(const std::string& name, const CellRules& rules,
                                            const SourceOptions& options = {});

}  // namespace headwater
