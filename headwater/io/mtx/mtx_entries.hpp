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

// An entry of a sparse matrix, counted from 0.
struct MtxEntry {
  std::uint32_t row;
  std::uint32_t column;
  double value;
};

// Entries one after another.
class MtxEntries {
 public:
  virtual ~MtxEntries() = default;
  virtual bool next(MtxEntry& entry) = 0;  // false behind the last
};

// As they stand in a file, which ends where its header says it does.
class MtxReader final : public MtxEntries {
 public:
  explicit MtxReader(TextFile file, const CellRules& rules = {}, LineLimits limits = {});

  const MtxHeader& header() const { return header_; }

  bool next(MtxEntry& entry) override;
  // The next value of a matrix that is not sparse, which has nothing else.
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

// Sorted by row, and then by column; 16 bytes an entry.
class SortedEntries final : public MtxEntries {
 public:
  explicit SortedEntries(MtxEntries& entries);

  bool next(MtxEntry& entry) override;

 private:
  std::vector<MtxEntry> entries_;
  std::size_t at_ = 0;
};

// Whether each entry is in the row of the one before, or further down. Stops reading at the first
// that is not.
bool are_sorted_by_row(MtxEntries& entries);

}  // namespace headwater
