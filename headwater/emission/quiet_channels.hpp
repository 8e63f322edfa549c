#pragma once

#include <array>
#include <mutex>
#include <span>
#include <vector>

#include "headwater/block_law.hpp"
#include "headwater/emission/quiet_series.hpp"

namespace headwater {

// Under the negative binomial law, what a channel without a count says of an activation x is
// -log(1 + z) / phi with z = phi lambda(x). With
//   k(z) = (z - log(1 + z)) / z^2,   log(1 + z) / phi = lambda - phi lambda^2 k(z),
// and k replaced by a polynomial, the sum over all channels is a polynomial in x, whose
// coefficients are computed once for a basis and a law. Work then grows with the channels that have
// counts.
//
// The polynomial interpolates k at the n Chebyshev nodes of an interval [0, Z] that has the
// channel's z in it, so it is wrong by at most
//   2 (Z / 4)^n max |k^(n)| / n! <= 2 (Z / 4)^n / (n + 2),   since k(z) = int_0^1 s / (1 + s z) ds.
// Every z is bounded by the largest number of counts that an activation expects of one component,
// max_k c_k x_k with c the sums of the columns:
//   lambda_m = sum_k (B_mk / c_k) c_k x_k <= sum_k (B_mk / c_k) max_k c_k x_k.
// So each n has a largest size max_k c_k x_k up to which the sum over all channels is wrong by at
// most kTolerance. An activation is given the smallest n that is good enough for it; beyond the
// largest of them, every channel is computed. The sums of the M-step are less demanding, and have
// limits of their own.
//
// Channels much louder than most would spoil the bound for all. They are set apart, and are no part
// of anything here.
class QuietChannels final : public BasisNotes {
 public:
  // In nats, for an observation: a weight of a particle by one part in a thousand.
  static constexpr double kTolerance = 1e-3;
  // ... of each channel's part in the sums of the M-step, relative to it.
  static constexpr double kRelativeTolerance = 1e-2;
  static constexpr int kMostNodes = QuietSeries::kMostNodes;

  // The largest size that each number of nodes is good enough for, 0 where more nodes are no
  // better.
  struct Limits {
    std::array<double, kMostNodes + 1> most{};
    std::array<double, kMostNodes + 1> log2_of_most{};
    double largest = 0;

    // The smallest number of nodes that is good enough for an activation of this size; 0 if none.
    int nodes_for(double size) const;
    void add(int nodes, double limit);
  };

  // dispersion: M. Null where there are too few channels for it to pay.
  static std::unique_ptr<QuietChannels> of(const PaddedRows& basis, const Vector& dispersion);

  std::span<const Index> loud() const { return loud_; }  // ascending
  bool is_loud(Index channel) const { return is_loud_[static_cast<std::size_t>(channel)]; }
  const Vector& column_sums() const { return column_sums_; }  // of the quiet channels
  // What activations are measured in for the polynomials: c_k, or 1 where that is 0.
  const Vector& units() const { return units_; }
  // The rows of the basis in these units: M x K.
  const Matrix& shares() const { return shares_; }
  double scale(Index channel) const { return scales_[channel]; }  // phi; 0 for loud channels

  // max_k c_k x_k.
  double size_of(std::span<const double> x) const;
  // ... for add_rest() and rest_at(): kTolerance and kRelativeTolerance.
  const Limits& limits() const { return limits_; }
  // ... for the sums of the M-step: kRelativeTolerance.
  const Limits& limits_in_sums() const { return limits_in_sums_; }

  // out[i] += sum over the quiet channels of lambda_m - log(1 + phi_m lambda_m) / phi_m.
  void add_rest(const Eigen::Ref<const Matrix>& activations, std::span<double> out) const;
  // The same at one activation, and its slopes: slopes[k] += d / d x_k.
  double rest_at(std::span<const double> x, std::span<double> slopes) const;

  // The polynomials of a channel, for activations up to one of these limits.
  const QuietSeries& series(const Limits& limits, int nodes, Index channel) const {
    return QuietSeries::of(
        nodes, log_loudness_[channel] + limits.log2_of_most[static_cast<std::size_t>(nodes)]);
  }

  // The rows of some activations by the nodes for them.
  using ByNodes = std::array<std::vector<Index>, kMostNodes + 1>;
  void sort_by_nodes(const Eigen::Ref<const Matrix>& activations, const Limits& limits,
                     ByNodes& out) const;
  // These rows in units().
  void gather(const Eigen::Ref<const Matrix>& activations, std::span<const Index> rows,
              Matrix& out) const;

 private:
  void measure(const PaddedRows& basis);
  void set_apart_loud(const PaddedRows& basis, const Vector& dispersion);
  void set_limits();
  void add_exact_rest(const Eigen::Ref<const Matrix>& activations, std::span<double> out) const;
  // The coefficients of a polynomial in c_k x_k of degree nodes + 1.
  std::span<const double> polynomial(int nodes) const;

  Matrix shares_;   // 0 for loud channels
  Vector scales_;   // phi, and 0 for loud channels
  Vector weights_;  // 1 / phi, and 0 for loud ones and for phi = 0
  Vector column_sums_;
  Vector units_;
  Vector peaks_;         // sum_k of the shares: lambda at size 1, at most
  Vector log_loudness_;  // log2 of z at size 1, at most
  std::vector<bool> is_loud_;
  std::vector<Index> loud_;
  Limits limits_;
  Limits limits_in_sums_;

  // Computed when first asked for, by whichever thread: the numbers are the same.
  mutable std::array<std::once_flag, kMostNodes + 1> made_;
  mutable std::array<std::vector<double>, kMostNodes + 1> polynomials_;
  mutable std::once_flag has_exact_;
  mutable RowMatrix rows_;        // the shares row by row
  mutable Vector dispersed_sum_;  // of those of a dispersion above 0; the others have no rest
};

}  // namespace headwater
