#pragma once

#include <span>

#include "headwater/channels.hpp"
#include "headwater/emission/statistics.hpp"

namespace headwater {

// Statistics that several processes add to together: from here to gather(), the sums of a law may
// leave out the rows of channels that belong to other ranks (see own_rows). What is not a row of a
// channel, such as s1, every rank adds up itself. Without ranks, and where ranks keep their own
// rows, nothing happens.
class SharedRows {
 public:
  explicit SharedRows(Statistics& statistics);
  SharedRows(const SharedRows&) = delete;
  SharedRows& operator=(const SharedRows&) = delete;
  ~SharedRows();

  void gather();  // every rank has all rows again

 private:
  Statistics& statistics_;
};

// The channels whose rows this process adds up, as a part of all channels ...
Stretch own_rows(Index num_channels);
// ... and as a part of a list of channels, which ascend.
Stretch own_part(std::span<const Index> channels);

// A list with one number for each of some channels, which ascend: each process comes with those of
// its own channels (see Reducer::shared_sum), and has all of them afterwards.
void gather_list(std::span<const Index> channels, std::span<double> values);

// column_sums() of a matrix of which each rank has its own rows.
Vector shared_column_sums(const Matrix& rows);

}  // namespace headwater
