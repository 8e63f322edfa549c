#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "headwater/matrix.hpp"

namespace headwater {

// The options that name columns of a table: by the name in the header, or by the number from 1.
struct ColumnOptions {
  std::string index;     // see SourceOptions::index_column
  std::string sequence;  // ... sequence_column
  std::string time;      // ... time_column
};

// What to say of a table in messages.
struct TableWords {
  std::string name;   // of the file
  std::string where;  // of its first row
  std::string_view subject;
  bool may_say_index;  // whether there is an option --index-column
};

// The columns of a table that are no channels; -1 where there is none.
struct SpecialColumns {
  Index index = -1;
  Index sequence = -1;
  Index time = -1;

  // Ascending, and behind them a number that no column has.
  std::vector<Index> in_order() const;
  bool contains(Index column) const {
    return column == index || column == sequence || column == time;
  }
};

// Those of texts that are named by numbers: they do not tell whether there is a header. An index,
// which often has numbers, does.
SpecialColumns numbered_columns(const ColumnOptions& options);

// names: of all columns; empty if there is no header. Throws InputError for a column that is not
// there or has two uses.
SpecialColumns find_columns(const ColumnOptions& options, const std::vector<std::string>& names,
                            Index num_cells, const TableWords& words);

}  // namespace headwater
