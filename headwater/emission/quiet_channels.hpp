#pragma once

#include <array>
#include <mutex>
#include <span>
#include <vector>

#include "headwater/block_law.hpp"

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
// largest of them, every channel is computed.
//
// Channels much louder than most would spoil the bound for all. They are set apart, and are no part
// of anything here.
class QuietChannels final : public BasisNotes {
 public:
  // In nats, for an observation: a weight of a particle by one part in a thousand.
  static constexpr double kTolerance = 1e-3;
  // ... of each channel's part in the sums of the M-step, relative to it.
  static constexpr double kRelativeTolerance = 1e-2;
  static constexpr int kMostNodes = 6;

  // For a polynomial in z of n coefficients that stands for a function on [0, Z].
  using Series = std::array<double, kMostNodes>;

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
  // The number of nodes that is good enough for an activation of this size; 0 if none.
  int nodes_for(double size) const;
  double most(int nodes) const { return most_[static_cast<std::size_t>(nodes)]; }
  double most() const { return largest_; }  // the largest of them

  // out[i] += sum over the quiet channels of lambda_m - log(1 + phi_m lambda_m) / phi_m.
  void add_rest(const Eigen::Ref<const Matrix>& activations, std::span<double> out) const;
  // The same at one activation, and its slopes: slopes[k] += d / d x_k.
  double rest_at(std::span<const double> x, std::span<double> slopes) const;

  // Polynomials for k(z) and 1 / (1 + z) on the interval of a channel, for activations of a size of
  // at most most(nodes), and for 1 / (1 + phi + 2 z + z^2 / limit), which is twice
  // what dispersion_information() has beside lambda^2.
  const Series& curve(int nodes, Index channel) const;
  const Series& inverse(int nodes, Index channel) const;
  Series information(int nodes, Index channel, double limit) const;

  // The rows of some activations by nodes_for() them.
  using ByNodes = std::array<std::vector<Index>, kMostNodes + 1>;
  void sort_by_nodes(const Eigen::Ref<const Matrix>& activations, ByNodes& out) const;
  // These rows in units().
  void gather(const Eigen::Ref<const Matrix>& activations, std::span<const Index> rows,
              Matrix& out) const;

 private:
  void set_apart_loud(const Vector& dispersion);
  std::size_t interval(int nodes, Index channel) const;
  void set_limits();
  void add_exact_rest(const Eigen::Ref<const Matrix>& activations, std::span<double> out) const;
  // The coefficients of a polynomial in c_k x_k of degree nodes + 1.
  std::span<const double> polynomial(int nodes) const;

  RowMatrix rows_;
  Matrix shares_;
  Vector scales_;   // phi, and 0 for loud channels
  Vector weights_;  // 1 / phi, and 0 for loud ones and for phi = 0
  Vector column_sums_;
  Vector units_;
  Vector peaks_;  // sum_k of the shares: lambda at size 1, at most
  std::vector<bool> is_loud_;
  std::vector<Index> loud_;
  std::array<double, kMostNodes + 1> most_{};  // by the number of nodes
  double largest_ = 0;

  // Computed when first asked for, by whichever thread: the numbers are the same.
  mutable std::array<std::once_flag, kMostNodes + 1> made_;
  mutable std::array<std::vector<double>, kMostNodes + 1> polynomials_;
};

}  // namespace headwater
