#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "headwater/core/state_archive.hpp"
#include "headwater/models/finite_chain.hpp"

namespace headwater {

// A joint state of a finite chain: the states on its axes side by side, each in as many bits as it
// needs. 64 components that are off or on fit.
using PackedState = std::uint64_t;

// Whether the joint states of a chain can be packed.
bool can_be_packed(const FiniteChain& chain);

// A finite chain by single joint states, for those who look at few of very many. Axes are put
// together in groups of a few bits, and probabilities are looked up group by group.
class PackedChain {
 public:
  explicit PackedChain(const FiniteChain& chain);  // which must be one that can be packed

  Index num_axes() const { return static_cast<Index>(axes_.size()); }
  const FiniteAxis& axis(Index k) const { return chain_.axes[static_cast<std::size_t>(k)]; }
  // The number of joint states, or `most` if there are more.
  Index num_states_up_to(Index most) const;
  // The joint state of an index in FiniteChain's order; only where that index fits.
  PackedState packed(Index joint) const;

  Index on_axis(PackedState state, Index k) const {
    const Bits& bits = axes_[static_cast<std::size_t>(k)];
    return static_cast<Index>(state >> bits.shift & bits.mask);
  }
  PackedState with_axis(PackedState state, Index k, Index value) const {
    const Bits& bits = axes_[static_cast<std::size_t>(k)];
    return (state & ~(bits.mask << bits.shift)) | static_cast<PackedState>(value) << bits.shift;
  }

  bool has(PackedState state) const;  // whether it is a state of every axis

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
    Index last_axis;    // one past
    std::size_t first;  // of its part of the tables
    std::size_t size() const { return static_cast<std::size_t>(bits.mask) + 1; }
  };
  void fill_table(const Group& group);

  FiniteChain chain_;
  std::vector<Bits> axes_;
  std::vector<Group> groups_;
  std::vector<double> tables_;  // of each group, at [to][from]
};

// A chain that is shared, with the states of `like`: the laws of its axes are put away or read.
void exchange_packed(StateArchive& archive, const PackedChain& like,
                     std::shared_ptr<const PackedChain>& value);

// Joint states and their weights. Throws InputError if what was read is none of the chain's.
void exchange_states(StateArchive& archive, const PackedChain& chain,
                     std::vector<PackedState>& states, std::vector<double>& weights);

// Adds up moves between joint states, and tells the moves along each axis.
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
  // In the layout of FiniteChain::num_moves.
  void add_to(const PackedChain& chain, std::span<double> moves) const;

 private:
  std::vector<double> sums_;  // laid out as the chain's tables
};

}  // namespace headwater
