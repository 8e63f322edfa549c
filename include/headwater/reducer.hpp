#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "headwater/channels.hpp"
#include "headwater/export.hpp"
#include "headwater/matrix.hpp"

namespace headwater {

// Forms every sum over channels. Channels are cut into blocks of kBlock. The terms of a block are
// added up in the order of their channels, and the sums of the blocks in the order of the blocks.
// So a later version can spread the blocks over several processes and still give the same bits.
// Today one process adds up all blocks.
class Reducer {
 public:
  static constexpr Index kBlock = 1024;

  // out += the sum over all stretches. add(stretch, out) adds the terms of one stretch to `out`.
  template <class Add>
  static void sum(std::span<const Stretch> stretches, std::span<double> out, const Add& add) {
    if (stretches.size() <= 1) {
      if (!stretches.empty()) add(stretches[0], out);
      return;
    }
    // Sums may be formed inside one another, and on several threads.
    thread_local std::vector<std::vector<double>> rooms;
    thread_local std::size_t depth = 0;
    if (rooms.size() <= depth) rooms.emplace_back();
    std::vector<double> room = std::move(rooms[depth]);
    ++depth;
    for (const Stretch& stretch : stretches) {
      room.assign(out.size(), 0);
      add(stretch, std::span<double>(room));
      for (std::size_t i = 0; i < out.size(); ++i) out[i] += room[i];
    }
    rooms[--depth] = std::move(room);
  }

  // The sum of one number for each stretch.
  template <class Term>
  static double sum(std::span<const Stretch> stretches, const Term& term) {
    double total = 0;
    for (const Stretch& stretch : stretches) total += term(stretch);
    return total;
  }
};

// Cuts an ascending list of channels into stretches, one for each block that has a channel in it.
HEADWATER_EXPORT void cut_into_stretches(std::span<const Index> channels,
                                         std::vector<Stretch>& out);
// ... of all channels, 0 to num_channels - 1.
HEADWATER_EXPORT std::vector<Stretch> stretches_of_all(Index num_channels);

// K: the sum of each column of a basis.
HEADWATER_EXPORT Vector column_sums(const Matrix& basis);

}  // namespace headwater
