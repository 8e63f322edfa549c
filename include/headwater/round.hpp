#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "headwater/export.hpp"

// Fits by rounds (Config::round): a round is a number of sequences that start from the same
// parameters, followed by one M-step. The sequences of a round do not depend on one another, so
// threads, processes and machines can share them:
//
//   const SequenceRound round = session.round();                                 // here
//   RoundStatistics part = session.statistics(round, sequence, index);   // anywhere
//   part.merge(statistics_of_other_sequences);                           // in any order
//   session.take_in(all);                                                // here: the M-step
namespace headwater {

class RecordView;

// What every sequence of a round starts from: the parameters, and what else the fit has learned.
// Session::round() makes it. A copy shares the contents, which never change.
class HEADWATER_EXPORT SequenceRound {
 public:
  std::int64_t first() const;  // the index of its first sequence among all, from 0
  // For another process, whose session was made with the same Config: see Session::round_of().
  std::string bytes() const;

  struct State;
  explicit SequenceRound(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  const State& state() const { return *state_; }

 private:
  std::shared_ptr<const State> state_;
};

// The statistics of sequences of one round. Sums over sequences are formed in a binary tree that is
// fixed by the places of the sequences in their round: places 0 and 1 are added, 2 and 3, then
// these two sums, and so on. merge() adds what are neighbours in that tree and keeps the rest side
// by side. It is therefore associative and commutative to the last bit: the same sequences give the
// same bytes, whoever computes which of them, and in whatever order they are merged.
class HEADWATER_EXPORT RoundStatistics {
 public:
  RoundStatistics();  // of no sequence
  RoundStatistics(const RoundStatistics& other);
  RoundStatistics(RoundStatistics&& other) noexcept;
  RoundStatistics& operator=(const RoundStatistics& other);
  RoundStatistics& operator=(RoundStatistics&& other) noexcept;
  ~RoundStatistics();

  // Throws UsageError if a sequence is in both, or if they are of different rounds or models.
  void merge(const RoundStatistics& other);

  std::int64_t sequences() const;
  std::int64_t observations() const;
  // Under the parameters that the round started from; impossible observations left out.
  double log_likelihood() const;

  std::string bytes() const;
  static RoundStatistics of_bytes(const std::string& bytes);  // throws InputError

  class Tree;
  explicit RoundStatistics(Tree tree);
  const Tree& tree() const { return *tree_; }

 private:
  std::unique_ptr<Tree> tree_;
};

// Computes the statistics of all sequences of a round. sequences: their observations, one sequence
// after the other.
using RunRound =
    std::function<RoundStatistics(const SequenceRound& round, const RecordView& sequences)>;

}  // namespace headwater
