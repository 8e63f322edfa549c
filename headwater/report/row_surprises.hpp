#pragma once

#include <cstdint>
#include <vector>

#include "headwater/inference.hpp"
#include "headwater/report/report_data.hpp"

namespace headwater {

// Tail probabilities of observations, which may cost several times what a step of the filter does.
// They are computed for rows at equal distances, which show whether predictions are calibrated; and
// for rows whose -log p lies furthest above the mean of all before, which show what was most
// surprising. The number of both grows with the logarithm of the length of the stream.
class RowSurprises {
 public:
  explicit RowSurprises(Index num_channels);

  // The stream will have about so many rows. Fewer tail probabilities are then computed in vain.
  void expect_rows(double rows);
  // The last observation of the filter, its number from 1, and what the filter expected of each
  // channel, given its exposure.
  void add(const ModelFilter& filter, const Observation& y, std::int64_t t, const FilterStep& step,
           const Vector& expected);

  std::vector<double> tail_probabilities() const;  // sorted
  std::vector<SurprisingRow> most_surprising(std::size_t count) const;

 private:
  struct Candidate {
    double excess = 0;  // of -log p over its mean, in standard deviations
    SurprisingRow row;
  };
  void keep_every_second();
  bool is_candidate(double excess) const;

  SurpriseMeter meter_;
  std::size_t most_regular_;
  std::int64_t stride_ = 1;
  std::vector<std::pair<std::int64_t, double>> regular_;  // t and its tail probability
  std::vector<Candidate> candidates_;                     // a heap, the least excess on top
  // Of -log p, over the rows that were possible.
  double count_ = 0;
  double mean_ = 0;
  double squares_ = 0;
};

}  // namespace headwater
