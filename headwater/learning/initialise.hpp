#pragma once

#include <cstdint>

#include "headwater/any_prior.hpp"
#include "headwater/observation.hpp"

namespace headwater {

// A random start on the scale of the data. observations: M x n, NaN where a cell is missing.
// B(m, k) = mean count of channel m / sum_k E[x_k], times a uniform number on (0, 2). Every entry
// is positive, even for a channel with no counts so far, since a zero could never be left again.
Matrix random_start(const Eigen::Ref<const Matrix>& observations, const AnyPrior& prior,
                    std::uint64_t seed);
Matrix random_start(const RecordView& observations, const AnyPrior& prior, std::uint64_t seed);

// A start that predicts about the mean of each channel, for the very first observations of a
// stream: columns that are nearly the same, each channel's mean (with half a count more, so that
// none is expected to be silent for ever) shared out among them. mean_activation: of the prior.
// factors: by which the columns differ.
Matrix even_start(const RecordView& observations, const Vector& mean_activation,
                  const Matrix& factors);
// M x K random numbers close to 1.
Matrix even_factors(Index num_channels, Index num_components, std::uint64_t seed);
// How dispersed counts are around the means of their channels, (variance - mean) / mean^2: the
// likeliest of some values, all channels together; where little has been seen, close to a value
// that is usual for counts. With what the columns of an even start add to it.
double dispersion_so_far(const RecordView& observations);

// A background column to start from: a tenth of the mean counts.
Vector background_start(const Eigen::Ref<const Matrix>& observations);
Vector background_start(const RecordView& observations);

// The basis with one more column.
Matrix with_background(Matrix basis, const Vector& background);

}  // namespace headwater
