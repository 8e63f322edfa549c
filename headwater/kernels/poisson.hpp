#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "headwater/channels.hpp"
#include "headwater/matrix.hpp"

namespace headwater {

// The positive counts of an observation's channels, preprocessed once for all likelihoods of that
// observation.
class CountRuns {
 public:
  // Reuses allocated memory. No run reaches beyond the end of a stretch; without any, all is one.
  void set(std::span<const double> counts, std::span<const Stretch> stretches = {});

  // Consecutive channels that are processed together.
  struct Run {
    static constexpr std::size_t kMost = 16;
    // For counts above this, powers with many binary digits cost more than logarithms.
    static constexpr std::uint32_t kLargestPower = 4095;
    static constexpr std::size_t kDigits = 12;

    std::size_t first = 0;
    std::size_t size = 0;
    std::array<double, kMost> counts{};

    // Whether all counts are integers of at most kLargestPower. If so, `channels` lists for each
    // binary digit, from the highest, the channels whose count has this digit set.
    bool is_whole = false;
    std::uint8_t num_digits = 0;
    std::array<std::uint8_t, kDigits> ends{};  // end of each digit's list in `channels`
    std::array<std::uint8_t, kMost * kDigits> channels{};
  };
  std::span<const Run> runs() const { return runs_; }
  // Those of one of the stretches.
  std::span<const Run> runs_of(const Stretch& stretch) const;
  std::size_t num_channels() const { return num_channels_; }

 private:
  std::vector<Run> runs_;
  std::size_t num_channels_ = 0;
};

// For activations x_i in the rows of an n x K block, and channels j with one count each:
//   out[i] = sum_j counts[j] log lambda_j(x_i) - sum_k total[k] x(i, k),
//   lambda_j(x) = sum_k rows[j K + k] x_k.
// This is the Poisson log-likelihood without its factorials. Counts are positive; all other inputs
// are finite and nonnegative. A channel of zero intensity gives -infinity. `out` overlaps no input.
//
// Channels with integer counts share one logarithm, that of the product of powers of their
// intensities. Its absolute error is at most 2^-53 times the sum of the counts, which is no more
// than the rounding of the intensities causes.
void poisson_log_likelihoods(const Eigen::Ref<const Matrix>& x, std::span<const double> rows,
                             const CountRuns& counts, std::span<const double> total,
                             std::span<double> out);

// out[i] += sum_j counts[j] log lambda_j(x_i) over the channels of some of the runs. rows: of all.
void add_count_logarithms(const Eigen::Ref<const Matrix>& x, std::span<const double> rows,
                          std::span<const CountRuns::Run> runs, std::span<double> out);

// The same of what the negative binomial law makes of intensities:
//   out[i] += sum_j counts[j] log(lambda_j(x_i) / (1 + scales[j] lambda_j(x_i))).
void add_softened_count_logarithms(const Eigen::Ref<const Matrix>& x, std::span<const double> rows,
                                   std::span<const double> scales,
                                   std::span<const CountRuns::Run> runs, std::span<double> out);

}  // namespace headwater
