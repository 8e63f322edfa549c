#pragma once

#include <vector>

#include "headwater/block_law.hpp"
#include "headwater/kernels/poisson.hpp"

namespace headwater {

class NegativeBinomialBlocks;
class QuietChannels;

// The listed channels of an observation as the kernels of the negative binomial law want them.
class NegativeBinomialNotes final : public LawNotes {
 public:
  std::unique_ptr<LawNotes> clone() const override {
    return std::make_unique<NegativeBinomialNotes>(*this);
  }
  static const NegativeBinomialNotes& of(const Evidence& evidence) {
    return static_cast<const NegativeBinomialNotes&>(evidence.notes());
  }

  // quiet_channels: null where every channel is listed.
  void take(const Evidence& evidence, const NegativeBinomialBlocks& law,
            const QuietChannels* quiet_channels);

  // Where channels without a count are not listed: their terms, and which listed channels have only
  // the part of their count. Null and empty otherwise.
  const QuietChannels* quiet = nullptr;
  std::vector<bool> is_quiet;
  std::vector<Index> excepted;  // channels among the quiet ones that are exposed otherwise

  std::vector<double> scales;   // dispersion times exposure: z = scale lambda
  std::vector<double> weights;  // of log(1 + z): y + 1 / phi, or y; 0 where phi = 0
  std::vector<double> factors;  // the loss at zero intensity: scale times weight
  // Those with a count: where they are in the list, and the counts themselves.
  std::vector<std::size_t> positions;
  std::vector<Index> channels;
  std::vector<double> counts;
  std::vector<Stretch> stretches;  // of them, one for each stretch of the list
  CountRuns runs;

  // Where quiet channels have only the part of their count: the scales of these among the channels
  // with a count, 0 for the others, ...
  std::vector<double> count_scales;
  // ... and the other channels, which have a term of their own without a count. Empty otherwise.
  struct Whole {
    std::vector<std::size_t> positions;  // in the list
    std::vector<double> scales;
    std::vector<double> weights;
    std::vector<Stretch> stretches;
  };
  Whole whole;
};

inline double exposure_at(const Evidence& evidence, std::size_t j) {
  return evidence.exposures().empty() ? 1 : evidence.exposures()[j];
}

// Lists every channel that was seen, and fills the total.
void list_all(const Observation& y, const PaddedRows& basis, const NegativeBinomialBlocks& law,
              Evidence& out);
// ... the channels that have a count, that are exposed otherwise, or that are loud.
void list_few(const Observation& y, const PaddedRows& basis, const QuietChannels& quiet,
              const NegativeBinomialBlocks& law, Evidence& out);

}  // namespace headwater
