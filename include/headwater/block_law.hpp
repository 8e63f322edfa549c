#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "headwater/evidence.hpp"
#include "headwater/export.hpp"
#include "headwater/parameter.hpp"
#include "headwater/random.hpp"
#include "headwater/state_archive.hpp"

namespace headwater {

class Emission;
struct Statistics;

// The variance of a count around its mean mu: constant + linear mu + quadratic mu^2.
struct VarianceFunction {
  double constant = 0;
  double linear = 0;
  double quadratic = 0;
};

// Slope of one cell's log-density in lambda, as gain - loss.
struct CellForces {
  double gain = 0;
  double loss = 0;
};

// Log-likelihoods of an observation on finitely many activations x. What can be computed from one
// basis to the next is kept.
class HEADWATER_EXPORT StateLikelihoods {
 public:
  explicit StateLikelihoods(Matrix states)
      : states_(std::move(states)) {}  // n x K: one row a state
  virtual ~StateLikelihoods() = default;
  virtual std::unique_ptr<StateLikelihoods> clone() const = 0;

  const Matrix& states() const { return states_; }
  Index num_states() const { return states_.rows(); }

  virtual void set_emission(const Emission& emission) = 0;
  // out(x) = log p(y | x) without the base measure; exactly 0 where nothing was seen.
  virtual void log_likelihoods(const Observation& y, Eigen::Ref<Vector> out) = 0;

 private:
  Matrix states_;
};

// The sums of the M-step. With gain and loss of a cell (see CellLaw) and w the weight of an
// activation x,
//   s1(k)        += w x_k
//   s2(m, k)     += w x_k B(m, k) gain_m
//   unseen(m, k) += w x_k (1 - loss_m), where a missing cell has no loss
//   s4           += w times the law's own statistics of each cell
// so that B(m, k) = s2 / (s1 - unseen) is the multiplicative update of the basis.
class HEADWATER_EXPORT EmissionSums {
 public:
  virtual ~EmissionSums() = default;
  virtual std::unique_ptr<EmissionSums> clone() const = 0;

  // Adds a block of T observations, given the law of each one's activation on the same states.
  // states: n x K. weights: n x T, times what each observation counts for.
  virtual void add(const Matrix& states, const Emission& emission,
                   const Eigen::Ref<const Matrix>& weights,
                   std::span<const Observation* const> observations, Statistics& out) = 0;
  // Adds one observation, on activations of its own.
  virtual void add_one(const Eigen::Ref<const Matrix>& states, const Emission& emission,
                       const Eigen::Ref<const Vector>& weights, const Observation& y,
                       Statistics& out) = 0;
  // The same without s1, and without `unseen` where the losses are the exposures.
  virtual void add_counts_of_one(const Eigen::Ref<const Matrix>& states, const Emission& emission,
                                 const Eigen::Ref<const Vector>& weights, const Observation& y,
                                 Statistics& out) = 0;
};

// unseen(m, k) += (1 - exposure of channel m) x_k.
HEADWATER_EXPORT void add_unexposed(const Observation& y, const Eigen::Ref<const Vector>& x,
                                    Statistics& out);

// A law of the counts as the engines ask it: whole blocks of activations, all channels at once. See
// CellLaw for what the parts of it mean, and AnyLaw for how one is made from a plain class.
class HEADWATER_EXPORT BlockLaw {
 public:
  virtual ~BlockLaw() = default;
  virtual std::unique_ptr<BlockLaw> clone() const = 0;
  virtual std::string name() const = 0;

  // Whether gain and loss of a cell are count / lambda and exposure: the loss of a cell then does
  // not depend on the activations, and a channel without a count enters by its intensity alone.
  virtual bool has_plain_losses() const = 0;

  // column_sums: of the basis.
  virtual void look_at(const Observation& y, const PaddedRows& basis, const Vector& column_sums,
                       Evidence& out) const = 0;
  // The part of log p(y | x) that no activation changes.
  virtual double log_base_measure(const Observation& y) const = 0;

  // Behind the functions of the same names in Evidence.
  virtual void log_likelihoods(const Evidence& evidence,
                               const Eigen::Ref<const Matrix>& activations,
                               std::span<const double> rows, const Vector& total,
                               std::span<double> out) const = 0;
  virtual double value(const Evidence& evidence, std::span<const double> intensities) const = 0;
  virtual void forces(const Evidence& evidence, std::span<const double> intensities,
                      Forces& out) const = 0;

  // Gains, losses and their slopes at one activation x (padded as the basis is). False if that
  // activation cannot explain the counts.
  virtual bool climb(const Evidence& evidence, const PaddedRows& basis, std::span<const double> x,
                     PointForces& out) const = 0;
  // After climb(): the curvatures there; returns sum_j f_j.
  virtual double settle(const Evidence& evidence, const PaddedRows& basis,
                        std::span<const double> x, PointForces& out) const = 0;

  virtual CellForces cell_forces(Index channel, double count, double exposure,
                                 double intensity) const = 0;

  // Both by the functions above alone, unless a law knows better.
  virtual std::unique_ptr<StateLikelihoods> state_likelihoods(Matrix states) const;
  virtual std::unique_ptr<EmissionSums> sums() const;

  // out(i) = the expected information on lambda_i of a cell of channel m with exposure 1.
  virtual void information(Index channel, std::span<const double> intensities,
                           std::span<double> out) const = 0;
  virtual VarianceFunction variance(Index channel) const = 0;
  virtual double draw(Index channel, double mean, Generator& generator) const = 0;

  // The law's own parameters: none unless it is learnable.
  virtual Parameters parameters() const = 0;
  virtual void set_parameter(const Parameter& parameter) = 0;
  virtual Index num_statistics(Index num_channels) const = 0;
  // out += weight times the law's own statistics of one cell.
  virtual void add_statistics(Index channel, double count, double exposure, double intensity,
                              double weight, std::span<double> out) const = 0;
  virtual void maximise(std::span<const double> statistics, const Held& held) = 0;
};

}  // namespace headwater
