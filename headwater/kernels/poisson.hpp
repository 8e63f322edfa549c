#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "headwater/core/matrix.hpp"
#include "headwater/core/stretch.hpp"

namespace headwater {

// The positive counts of some channels, sorted out once for all that is asked about them.
class CountRuns {
 public:
  // Keeps its memory. No run reaches beyond the end of a stretch; without any, all is one.
  void set(std::span<const double> counts, std::span<const Stretch> stretches = {});

  // Channels that are taken in together.
  struct Run {
    static constexpr std::size_t kMost = 16;
    // Counts above this are not worth their many binary digits.
    static constexpr std::uint32_t kLargestPower = 4095;
    static constexpr std::size_t kDigits = 12;

    std::size_t first = 0;
    std::size_t size = 0;
    std::array<double, kMost> counts{};

    // Whether all counts are whole and at most kLargestPower. Then the channels whose counts have a
    // binary digit one, for one digit after the other from the highest on:
    bool is_whole = false;
    std::uint8_t num_digits = 0;
    std::array<std::uint8_t, kDigits> ends{};  // of each digit's channels in
    std::array<std::uint8_t, kMost * kDigits> channels{};
  };
  std::span<const Run> runs() const { return runs_; }
  std::size_t num_channels() const { return num_channels_; }

 private:
  std::vector<Run> runs_;
  std::size_t num_channels_ = 0;
};

// For activations x_i in the rows of an n x K block, and channels j that have a count each:
//   out[i] = sum_j counts[j] log lambda_j(x_i) - sum_k total[k] x(i, k),
//   lambda_j(x) = sum_k rows[j K + k] x_k,
// the Poisson log-likelihood but for its factorials. Counts are positive; everything else is finite
// and nonnegative. A channel of zero intensity makes it -infinity. `out` overlaps nothing.
//
// Channels with whole counts share a logarithm, that of the product of the powers of their
// intensities. Its absolute error is at most 2^-53 times the sum of the counts, no more than that
// of the intensities themselves would make it.
void poisson_log_likelihoods(const Eigen::Ref<const Matrix>& x, std::span<const double> rows,
                             const CountRuns& counts, std::span<const double> total,
                             std::span<double> out);

// out[i] += sum_j counts[j] log lambda_j(x_i) over the channels of some of the runs. rows: of all.
void add_count_logarithms(const Eigen::Ref<const Matrix>& x, std::span<const double> rows,
                          std::span<const CountRuns::Run> runs, std::span<double> out);

}  // namespace headwater
