#pragma once

#include <limits>
#include <vector>

#include "headwater/models/basis_selection.hpp"
#include "headwater/observation.hpp"
#include "headwater/reference/streams.hpp"
#include "headwater/session.hpp"
#include "headwater/simulate.hpp"

// Sequences and options for tests of fits by rounds.
namespace headwater::reference {

inline const Matrix kRoundBasis = (Matrix(4, 2) << 9, 1, 2, 7, 4, 4, 0.5, 3).finished();

// Sequences of 3 to 30 observations, some with missing cells and exposures.
inline std::vector<Record> some_sequences(int number, std::uint64_t seed = 1) {
  std::vector<Record> sequences;
  for (int i = 0; i < number; ++i) {
    Simulator simulator(AnyPrior(BasisSelection(2, 0.8, 0.7)), kRoundBasis,
                        seed + static_cast<std::uint64_t>(i));
    sequences.emplace_back();
    const Index length = 3 + (7 * i) % 28;
    for (Index t = 0; t < length; ++t) {
      simulator.next();
      std::vector<double> counts = simulator.observation();
      if ((i + t) % 9 == 0) counts[2] = std::numeric_limits<double>::quiet_NaN();
      const std::vector<double> exposures((i + t) % 5 == 0 ? 4 : 0, 1.5);
      Observation y(counts, exposures);
      y.set_begins_sequence(t == 0);
      sequences.back().add(y);
    }
  }
  return sequences;
}

inline Config round_config(Index round) {
  Config config;
  config.num_components = 2;
  config.round = round;
  config.initial_basis = perturbed(kRoundBasis, 0.3, 4);
  config.counts.law = "poisson";
  config.burn_in = 20;
  return config;
}

inline void give_sequences(Session& session, const std::vector<Record>& sequences, Index first = 0,
                           Index last = std::numeric_limits<Index>::max()) {
  Index at = 0;
  for (const Record& sequence : sequences) {
    for (Index t = 0; t < sequence.size(); ++t, ++at) {
      if (at >= first && at < last) session.update(sequence[t]);
    }
  }
}

}  // namespace headwater::reference
