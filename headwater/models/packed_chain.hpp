#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "headwater/finite_chain.hpp"
#include "headwater/state_archive.hpp"

namespace headwater {

// A joint state of a finite chain: the states on its axes as bit fields, each as wide as needed. 64
// components that are off or on fit.
using PackedState = std::uint64_t;

// Whether the joint states of the chain fit into a PackedState.
bool can_be_packed(const FiniteChain& chain);

// A finite chain accessed by single joint states, for engines that visit few of very many. Axes are
// combined into groups of a few bits, and transition probabilities are looked up group by group.
class PackedChain {
 public:
  explicit PackedChain(const FiniteChain& chain);  // requires can_be_packed(chain)

  Index num_axes() const { return static_cast<Index>(axes_.size()); }
  const FiniteAxis& axis(Index k) const { return chain_.axes[static_cast<std::size_t>(k)]; }
  // The number of joint states, but at most `most`.
  Index num_states_up_to(Index most) const;
  // The joint state with this index in FiniteChain's order, if the index fits an integer.
  PackedState packed(Index joint) const;

  Index on_axis(PackedState state, Index k) const {
    const Bits& bits = axes_[static_cast<std::size_t>(k)];
    return static_cast<Index>(state >> bits.shift & bits.mask);
  }
  PackedState with_axis(PackedState state, Index k, Index value) const {
    const Bits& bits = axes_[static_cast<std::size_t>(k)];
    return (state & ~(bits.mask << bits.shift)) | static_cast<PackedState>(value) << bits.shift;
  }

  bool has(PackedState state) const;  // whether every axis has its state

  double initial_probability(PackedState state) const;
  // out[j] = P(from[j] -> to)
  void transitions_to(PackedState to, std::span<const PackedState> from,
                      std::span<double> out) const;
  // Row i is the activation of states[i]; what columns `x` has more than components, is ones.
  void activations(std::span<const PackedState> states, Eigen::Ref<Matrix> x) const;

  // See KroneckerOperator.
  double contraction() const;
  Index num_moves() const { return chain_.num_moves(); }
  const FiniteChain& chain() const { return chain_; }

 private:
  friend class PackedMoves;

  struct Bits {
    int shift;
    PackedState mask;
  };
  struct Group {
    Bits bits;
    Index first_axis;
    Index last_axis;    // one past the last
    std::size_t first;  // start of its part of the tables
    std::size_t size() const { return static_cast<std::size_t>(bits.mask) + 1; }
  };
  void fill_table(const Group& group);

  FiniteChain chain_;
  std::vector<Bits> axes_;
  std::vector<Group> groups_;
  std::vector<double> tables_;  // of each group, indexed [to][from]
};

// Saves or restores a shared chain with the states of `like`; only the probabilities of its axes
// are stored.
void exchange_packed(StateArchive& archive, const PackedChain& like,
                     std::shared_ptr<const PackedChain>& value);

// Saves or restores joint states and their weights. Throws InputError if a restored state is not
// one of the chain's.
void exchange_states(StateArchive& archive, const PackedChain& chain,
                     std::vector<PackedState>& states, std::vector<double>& weights);

// Accumulates transitions between joint states and converts them to transitions along each axis.
class PackedMoves {
 public:
  void clear(const PackedChain& chain);
  void add(const PackedChain& chain, PackedState from, PackedState to, double weight) {
    for (const PackedChain::Group& group : chain.groups_) {
      const PackedState i = from >> group.bits.shift & group.bits.mask;
      const PackedState j = to >> group.bits.shift & group.bits.mask;
      sums_[group.first + j * group.size() + i] += weight;
    }
  }
  // Adds the transitions to `moves`, in the layout of FiniteChain::num_moves.
  void add_to(const PackedChain& chain, std::span<double> moves) const;

 private:
  std::vector<double> sums_;  // in the layout of the chain's tables
};

}  // namespace headwater
