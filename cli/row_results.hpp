#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "headwater/matrix.hpp"
#include "headwater/observation.hpp"
#include "ranks.hpp"

// What is found of each row, in the order of the rows. With --shard sequences a rank finds it for
// sequences of its own, by turns. After some thousand rows the ranks hand each other what they have
// found, so that each of them has all rows.
class RowResults {
 public:
  using Take = std::function<void(std::span<const std::string> texts, std::span<const double>)>;
  // Each row has so many numbers. take: called for each row.
  RowResults(const RankOptions& options, headwater::Index num_values, Take take);

  // Whether this process is to find the numbers of the next row.
  bool is_own(const headwater::Observation& y);
  bool is_own_sequence(headwater::Index sequence) const;  // counted from 0
  // The last row, with texts to go before its numbers. Without numbers if it is not its own.
  void add(std::vector<std::string> texts, std::span<const double> values);
  // After the last row. Says so if there was one sequence only, so that the others had no work.
  void finish(bool quiet);

 private:
  struct Waiting {
    int owner;
    std::vector<std::string> texts;
  };
  int owner_of(headwater::Index sequence) const;
  void exchange();

  headwater::Ranks* ranks_;  // null if nothing is shared
  headwater::Index num_values_;
  Take take_;
  headwater::Index sequence_ = -1;  // of the last row
  std::vector<Waiting> waiting_;
  std::vector<double> found_;  // by this rank, of the rows that wait
};
