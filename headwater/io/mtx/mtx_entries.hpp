#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "headwater/io/cell.hpp"
#include "headwater/io/mtx/mtx_header.hpp"
#include "headwater/io/text/line_reader.hpp"
#include "headwater/io/text/text_file.hpp"

namespace headwater {

// An entry of a sparse matrix; row and column count from 0.
struct MtxEntry {
  std::uint32_t row;
  std::uint32_t column;
  double value;
};

// A sequence of entries.
class MtxEntries {
 public:
  virtual ~MtxEntries() = default;
  virtual bool next(MtxEntry& entry) = 0;  // false at the end
};

// The entries in the order of the file, which must have as many as its header says.
class MtxReader final : public MtxEntries {
 public:
  explicit MtxReader(TextFile file, const CellRules& rules = {}, LineLimits limits = {});

  const MtxHeader& header() const { return header_; }

  bool next(MtxEntry& entry) override;
  // The next value of a dense matrix, whose lines have no indices.
  bool next_value(double& value);

 private:
  bool next_line(std::string_view& line);
  std::uint32_t cut_place(std::string_view& line, std::string_view what, Index size) const;
  double cut_value(std::string_view& line) const;
  void expect_end(std::string_view line) const;
  [[noreturn]] void fail(std::string_view what) const;

  CellRules rules_;
  LineReader lines_;
  MtxHeader header_;
  std::int64_t num_read_ = 0;
};

// Entries sorted by row, then by column. Memory: 16 bytes per entry.
class SortedEntries final : public MtxEntries {
 public:
  explicit SortedEntries(MtxEntries& entries);

  bool next(MtxEntry& entry) override;

 private:
  std::vector<MtxEntry> entries_;
  std::size_t at_ = 0;
};

// Whether row numbers never decrease. Stops reading at the first that does.
bool are_sorted_by_row(MtxEntries& entries);

}  // namespace headwater
