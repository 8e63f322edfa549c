#pragma once

#include <functional>
#include <span>
#include <vector>

#include "headwater/channels.hpp"
#include "headwater/export.hpp"
#include "headwater/matrix.hpp"

namespace headwater {

// Forms every sum over channels. Channels are cut into blocks of kBlock. The terms of a block are
// added up in the order of their channels, and the sums of the blocks in a binary tree: blocks 0
// and 1, blocks 2 and 3, then these two sums, and so on. A block without a term is left out. The
// order does not depend on who forms the sum, so several processes that have some blocks each find
// the same bits as one that has all.
class HEADWATER_EXPORT Reducer {
 public:
  static constexpr Index kBlock = 1024;

  // out += the sum over all stretches, one for each block that has a term, in their order.
  // add(stretch, out) adds the terms of one stretch to `out`.
  template <class Add>
  static void sum(std::span<const Stretch> stretches, std::span<double> out, const Add& add) {
    add_up(stretches, out, std::cref(add));
  }

  // The same. Where several processes work together, each calls add() for the stretches of its own
  // blocks alone: for sums that are worth a message. `out` is the same for all of them.
  template <class Add>
  static void shared_sum(std::span<const Stretch> stretches, std::span<double> out,
                         const Add& add) {
    share(stretches, out, std::cref(add));
  }

  // The sum of one number for each stretch.
  template <class Term>
  static double sum(std::span<const Stretch> stretches, const Term& term) {
    double total = 0;
    sum(stretches, {&total, 1},
        [&](const Stretch& stretch, std::span<double> to) { to[0] += term(stretch); });
    return total;
  }

 private:
  using AddStretch = std::function<void(const Stretch&, std::span<double>)>;
  static void add_up(std::span<const Stretch> stretches, std::span<double> out,
                     const AddStretch& add);
  static void share(std::span<const Stretch> stretches, std::span<double> out,
                    const AddStretch& add);
};

// Cuts an ascending list of channels into stretches, one for each block that has a channel in it.
HEADWATER_EXPORT void cut_into_stretches(std::span<const Index> channels,
                                         std::vector<Stretch>& out);
// ... of all channels, 0 to num_channels - 1.
HEADWATER_EXPORT std::vector<Stretch> stretches_of_all(Index num_channels);

// to(k) += the sum of the rows of a stretch of channels in column k.
HEADWATER_EXPORT void add_column_sums(const Matrix& basis, const Stretch& stretch,
                                      std::span<double> to);
// out += a sum over all rows of matrices with a row for each channel, of which this process may
// keep some alone. add(stretch, to) adds the terms of a stretch of its rows.
HEADWATER_EXPORT void sum_rows(Index num_rows, std::span<double> out,
                               const std::function<void(const Stretch&, std::span<double>)>& add);
// K: the sum of each column of a basis.
HEADWATER_EXPORT Vector column_sums(const Matrix& basis);

}  // namespace headwater
