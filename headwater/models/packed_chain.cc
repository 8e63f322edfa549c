#include "headwater/models/packed_chain.hpp"

#include <algorithm>
#include <bit>

#include "headwater/error.hpp"
#include "headwater/kernels/kronecker.hpp"

namespace headwater {

namespace {

constexpr int kMostBits = 64;
// A row of a group's table has 64 numbers, so that several rows fit into the L1 cache.
constexpr int kGroupBits = 6;

int bits_of(const FiniteAxis& axis) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(axis.size() - 1)));
}

PackedState mask_of(int bits) {
  return bits == kMostBits ? ~PackedState{0} : (PackedState{1} << bits) - 1;
}

}  // namespace

bool can_be_packed(const FiniteChain& chain) {
  int bits = 0;
  for (const FiniteAxis& axis : chain.axes) bits += bits_of(axis);
  return bits <= kMostBits;
}

PackedChain::PackedChain(const FiniteChain& chain) : chain_(chain) {
  int shift = 0;
  int group_bits = 0;
  for (Index k = 0; k < static_cast<Index>(chain_.axes.size()); ++k) {
    const int bits = bits_of(axis(k));
    // A shift by 64 bits is undefined; an axis of one state after 64 bits needs no shift.
    axes_.push_back({bits == 0 ? 0 : shift, mask_of(bits)});
    if (groups_.empty() || group_bits + bits > kGroupBits) {
      groups_.push_back({{axes_.back().shift, 0}, k, k, 0});
      group_bits = 0;
    }
    group_bits += bits;
    shift += bits;
    groups_.back().last_axis = k + 1;
    groups_.back().bits.mask = mask_of(group_bits);
  }
  for (Group& group : groups_) {
    group.first = tables_.size();
    tables_.resize(tables_.size() + group.size() * group.size());
    fill_table(group);
  }
}

// Codes that are not states keep probability 0.
void PackedChain::fill_table(const Group& group) {
  for (std::size_t to = 0; to < group.size(); ++to) {
    for (std::size_t from = 0; from < group.size(); ++from) {
      double probability = 1;
      for (Index k = group.first_axis; k < group.last_axis; ++k) {
        const Index i = on_axis(from << group.bits.shift, k);
        const Index j = on_axis(to << group.bits.shift, k);
        const bool exists = i < axis(k).size() && j < axis(k).size();
        probability *= exists ? axis(k).transition(i, j) : 0;
      }
      tables_[group.first + to * group.size() + from] = probability;
    }
  }
}

Index PackedChain::num_states_up_to(Index most) const {
  Index count = 1;
  for (const FiniteAxis& axis : chain_.axes) {
    if (count > most / axis.size()) return most;
    count *= axis.size();
  }
  return std::min(count, most);
}

PackedState PackedChain::packed(Index joint) const {
  PackedState state = 0;
  for (Index k = 0; k < num_axes(); ++k) {
    state = with_axis(state, k, joint % axis(k).size());
    joint /= axis(k).size();
  }
  return state;
}

bool PackedChain::has(PackedState state) const {
  PackedState rest = state;
  for (Index k = 0; k < num_axes(); ++k) {
    if (on_axis(state, k) >= axis(k).size()) return false;
    rest = with_axis(rest, k, 0);
  }
  return rest == 0;
}

double PackedChain::initial_probability(PackedState state) const {
  double probability = 1;
  for (Index k = 0; k < num_axes(); ++k) probability *= axis(k).initial[on_axis(state, k)];
  return probability;
}

void PackedChain::transitions_to(PackedState to, std::span<const PackedState> from,
                                 std::span<double> out) const {
  std::ranges::fill(out, 1.0);
  for (const Group& group : groups_) {
    const auto [shift, mask] = group.bits;
    const double* row = tables_.data() + group.first + (to >> shift & mask) * group.size();
    for (std::size_t j = 0; j < from.size(); ++j) out[j] *= row[from[j] >> shift & mask];
  }
}

void PackedChain::activations(std::span<const PackedState> states, Eigen::Ref<Matrix> x) const {
  Index column = 0;
  for (Index k = 0; k < num_axes(); ++k) {
    const Matrix& values = axis(k).states;
    for (Index c = 0; c < values.cols(); ++c, ++column) {
      for (std::size_t i = 0; i < states.size(); ++i) {
        x(static_cast<Index>(i), column) = values(on_axis(states[i], k), c);
      }
    }
  }
  x.topRightCorner(static_cast<Index>(states.size()), x.cols() - column).setOnes();
}

double PackedChain::contraction() const {
  double largest = 0;
  for (const FiniteAxis& axis : chain_.axes) {
    largest = std::max(largest, KroneckerOperator({axis.transition}).contraction());
  }
  return largest;
}

void exchange_packed(StateArchive& archive, const PackedChain& like,
                     std::shared_ptr<const PackedChain>& value) {
  FiniteChain chain = value ? value->chain() : like.chain();
  for (FiniteAxis& axis : chain.axes) archive(axis.initial, axis.transition);
  if (!archive.is_reading()) return;
  validate(chain, "the saved state's chain");
  value = std::make_shared<const PackedChain>(chain);
}

void exchange_states(StateArchive& archive, const PackedChain& chain,
                     std::vector<PackedState>& states, std::vector<double>& weights) {
  archive(states, weights);
  const bool fits = states.size() == weights.size() &&
                    std::ranges::all_of(states, [&](PackedState s) { return chain.has(s); });
  archive.expect(fits, "joint states that the chain does not have");
}

void PackedMoves::clear(const PackedChain& chain) { sums_.assign(chain.tables_.size(), 0); }

void PackedMoves::add_to(const PackedChain& chain, std::span<double> moves) const {
  std::size_t begin = 0;
  for (const PackedChain::Group& group : chain.groups_) {
    for (Index k = group.first_axis; k < group.last_axis; ++k) {
      const Index size = chain.axis(k).size();
      for (std::size_t to = 0; to < group.size(); ++to) {
        for (std::size_t from = 0; from < group.size(); ++from) {
          const double sum = sums_[group.first + to * group.size() + from];
          if (sum == 0) continue;
          const Index i = chain.on_axis(from << group.bits.shift, k);
          const Index j = chain.on_axis(to << group.bits.shift, k);
          moves[begin + static_cast<std::size_t>(i * size + j)] += sum;
        }
      }
      begin += static_cast<std::size_t>(size * size);
    }
  }
}

}  // namespace headwater
