#pragma once

#include <span>

#include "headwater/matrix.hpp"

namespace headwater {

// How dispersions are learned. A cell of channel m, at dispersion phi, says by its score S and its
// information I (see negative_binomial_terms.hpp) that phi + S / I would fit it better. So its
// statistics are I phi + S and I, and the ratio of their sums is the step of Fisher's scoring. EM
// with the gamma variables as missing data would take hundreds of steps where counts are small: the
// counts then hardly tell these variables.
struct DispersionStatistics {
  static constexpr Index kPerChannel = 2;

  static void add(double weight, double phi, double score, double information,
                  std::span<double> channel) {
    channel[0] += weight * (information * phi + score);
    channel[1] += weight * information;
  }
};

// One dispersion for all channels: the ratio of the sums. Stays where there is no information.
double shared_dispersion(std::span<const double> statistics, double now);

// A dispersion for each channel. The logarithms are taken to be normally distributed over the
// channels, with a mean and a variance that are themselves estimated (empirical Bayes, as edgeR and
// DESeq2 do [DESeq2]): a channel that says little about its dispersion is given that of the others.
// observations: how many the statistics, which are averages, are worth.
//
// mean_counts, of each channel up to a common factor: where dispersions rise or fall with them, the
// mean of the logarithms is a line over the logarithm of the mean count, as in DESeq2. Its slope is
// shrunk to 0, and is 0 unless it is two standard errors away from that. Without them, or where a
// channel has no count, there is no line.
Vector channel_dispersions(std::span<const double> statistics, double observations,
                           const Vector& now, std::span<const double> mean_counts = {});

}  // namespace headwater
