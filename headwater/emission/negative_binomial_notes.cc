#include "headwater/emission/negative_binomial_notes.hpp"

#include <algorithm>
#include <limits>

#include "headwater/emission/negative_binomial_blocks.hpp"
#include "headwater/emission/quiet_channels.hpp"

namespace headwater {

namespace {

// Whether QuietChannels has the term of this channel as if it had no count.
bool has_quiet_term(const Evidence& evidence, const QuietChannels* quiet, std::size_t j) {
  return quiet != nullptr && exposure_at(evidence, j) == 1 &&
         !quiet->is_loud(evidence.channels()[j]);
}

void clear(NegativeBinomialNotes::Whole& whole) {
  whole.positions.clear();
  whole.scales.clear();
  whole.weights.clear();
  whole.stretches.clear();
}

}  // namespace

void NegativeBinomialNotes::take(const Evidence& evidence, const NegativeBinomialBlocks& law,
                                 const QuietChannels* quiet_channels) {
  quiet = quiet_channels;
  is_quiet.clear();
  excepted.clear();
  scales.clear();
  weights.clear();
  factors.clear();
  positions.clear();
  channels.clear();
  counts.clear();
  stretches.clear();
  count_scales.clear();
  clear(whole);
  for (const Stretch& stretch : evidence.stretches()) {
    const std::size_t first = counts.size();
    const std::size_t first_whole = whole.positions.size();
    for (std::size_t j = stretch.first; j < stretch.first + stretch.size; ++j) {
      const double phi = law.dispersion(evidence.observation(), evidence.channels()[j]);
      const double count = evidence.counts()[j];
      const bool has_quiet = has_quiet_term(evidence, quiet, j);
      const double own = has_quiet ? 0 : 1;  // the term without a count
      if (quiet != nullptr) is_quiet.push_back(has_quiet);
      scales.push_back(phi * exposure_at(evidence, j));
      weights.push_back(phi > 0 ? count + own / phi : 0);
      factors.push_back(phi > 0 ? exposure_at(evidence, j) * (own + phi * count) : 0);
      if (quiet != nullptr && !has_quiet) {
        whole.positions.push_back(j);
        whole.scales.push_back(scales.back());
        whole.weights.push_back(weights.back());
      }
      if (count == 0) continue;
      if (quiet != nullptr) count_scales.push_back(has_quiet ? scales.back() : 0);
      positions.push_back(j);
      channels.push_back(evidence.channels()[j]);
      counts.push_back(count);
    }
    stretches.push_back({first, counts.size() - first, stretch.block});
    whole.stretches.push_back({first_whole, whole.positions.size() - first_whole, stretch.block});
  }
  runs.set(counts, stretches);
  if (quiet == nullptr) return;
  for (const Index m : evidence.observation().exposed()) {
    if (!quiet->is_loud(m) && law.dispersion(m) > 0) excepted.push_back(m);
  }
}

void list_all(const Observation& y, const PaddedRows& basis, const NegativeBinomialBlocks& law,
              Evidence& out) {
  Vector& total = out.mutable_total();
  total.setZero(basis.cols());
  const bool has_exposures = !y.exposed().empty();
  for_each_seen(y, [&](Index m, double count, double exposure) {
    const bool is_linear = law.dispersion(y, m) == 0;
    if (is_linear) total += exposure * Eigen::Map<const Vector>(basis.row(m), basis.cols());
    if (is_linear && count == 0) return;
    if (has_exposures) {
      out.list(m, count, exposure);
    } else {
      out.list(m, count);
    }
  });
}

// In ascending order.
void list_few(const Observation& y, const PaddedRows& basis, const QuietChannels& quiet,
              const NegativeBinomialBlocks& law, Evidence& out) {
  Vector& total = out.mutable_total();
  total = quiet.column_sums();
  const bool has_exposures = !y.exposed().empty();
  const std::span<const Index> loud = quiet.loud();
  std::size_t i = 0;  // counts
  std::size_t j = 0;  // exposures
  std::size_t l = 0;  // loud channels
  const auto next = [](std::span<const Index> list, std::size_t at) {
    return at < list.size() ? list[at] : std::numeric_limits<Index>::max();
  };
  while (i < y.channels().size() || j < y.exposed().size() || l < loud.size()) {
    const Index m = std::min({next(y.channels(), i), next(y.exposed(), j), next(loud, l)});
    const bool is_loud = next(loud, l) == m;
    const double count = next(y.channels(), i) == m ? y.counts()[i++] : 0;
    const double exposure = next(y.exposed(), j) == m ? y.exposures()[j++] : 1;
    if (is_loud) ++l;
    const bool is_linear = law.dispersion(m) == 0;
    const double linear = is_linear ? exposure : 0;
    if (exposure != 1 && !is_loud) {
      total -= (1 - linear) * Eigen::Map<const Vector>(basis.row(m), basis.cols());
    }
    if (exposure == 0 || (is_linear && count == 0)) continue;
    if (has_exposures) {
      out.list(m, count, exposure);
    } else {
      out.list(m, count);
    }
  }
}

}  // namespace headwater
