#pragma once

#include <memory>
#include <string>
#include <vector>

#include "headwater/io/cell.hpp"
#include "headwater/io/mtx/mtx_entries.hpp"
#include "headwater/io/source.hpp"

namespace headwater {

// Observations from the rows of a sparse matrix, whose entries come sorted by row. Memory is that
// of one observation. Entries for the same cell are added up, as SciPy, MATLAB, Julia and Eigen do:
// the format does not say what they mean, and two lines about one cell of a table of counts are
// most often two counts.
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
  std::vector<MtxEntry> row_entries_;  // of the row that is handed out
  MtxEntry ahead_ = {};
  bool has_ahead_ = false;
  Index row_ = 0;  // how many have been handed out
};

// Observations from the rows of a dense matrix, which stands in the file column by column, so that
// all of it is read before the first: 8 bytes a cell.
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
  std::vector<double> cells_;  // column by column
  Index row_ = 0;              // how many have been handed out
};

// A Matrix Market file, sparse or dense. A sparse one whose entries are sorted by row is read
// twice, first to see that they are, and then an observation at a time. Otherwise (most programs
// write column by column) or if it cannot be read twice, all entries are kept, 16 bytes each.
std::unique_ptr<ObservationSource> open_mtx(const std::string& name, const CellRules& rules,
                                            const SourceOptions& options = {});

}  // namespace headwater
