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
//
// A law with a hurdle differs: mu is its intensity, and not its mean. A count is 0 as often as a
// count of that variance would be. Otherwise it is 1 and, with a geometric law, `excess` more on
// average.
struct HEADWATER_EXPORT VarianceFunction {
  double constant = 0;
  double linear = 0;
  double quadratic = 0;
  double excess = -1;  // negative: there is no hurdle

  bool has_hurdle() const { return excess >= 0; }
  // `mixing` is the squared coefficient of variation of mu, where mu is not known but has a gamma
  // law.
  double mean_count(double mu, double mixing = 0) const;
  double slope_of_mean(double mu) const;  // in mu
  double variance_of_count(double mu) const;
};

// The derivative of one cell's log-density in its intensity lambda is gain - loss.
struct CellForces {
  double gain = 0;
  double loss = 0;
};

// Log-likelihoods of an observation for each of finitely many activations x. What depends on the
// basis alone is computed once, in set_emission().
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

// Adds up the sufficient statistics of the M-step. For an activation x of weight w, and the gain
// and loss of each cell (see CellLaw),
//   s1(k)        += w x_k
//   s2(m, k)     += w x_k B(m, k) gain_m
//   unseen(m, k) += w x_k (1 - loss_m), where a missing cell has no loss
//   s4           += w times the law's own statistics of each cell
// so that B(m, k) = s2 / (s1 - unseen) is the multiplicative update of the basis.
class HEADWATER_EXPORT EmissionSums {
 public:
  virtual ~EmissionSums() = default;
  virtual std::unique_ptr<EmissionSums> clone() const = 0;

  // Adds a block of T observations whose activations are among the same n states. states: n x K.
  // weights: n x T, the probability of each state times the weight of the observation. By default
  // one observation after the other.
  virtual void add(const Matrix& states, const Emission& emission,
                   const Eigen::Ref<const Matrix>& weights,
                   std::span<const Observation* const> observations, Statistics& out);
  // Adds one observation, given the activations that are possible for it and their weights.
  virtual void add_one(const Eigen::Ref<const Matrix>& states, const Emission& emission,
                       const Eigen::Ref<const Vector>& weights, const Observation& y,
                       Statistics& out);
  // The same without s1, and without `unseen` if has_plain_losses().
  virtual void add_counts_of_one(const Eigen::Ref<const Matrix>& states, const Emission& emission,
                                 const Eigen::Ref<const Vector>& weights, const Observation& y,
                                 Statistics& out) = 0;
  // Whether all this takes work for the counts of the observation alone, although losses depend on
  // the activations.
  virtual bool is_quick(const Emission& /*emission*/, const Observation& /*y*/) const {
    return false;
  }
  // s4 alone, where is_quick().
  virtual void add_law_statistics_of_one(const Eigen::Ref<const Matrix>& /*states*/,
                                         const Emission& /*emission*/,
                                         const Eigen::Ref<const Vector>& /*weights*/,
                                         const Observation& /*y*/, Statistics& /*out*/) {}
  // Functions that add one observation may leave work to this one, which is cheaper for many
  // observations at once. To be called before the statistics are read, and before another emission
  // or other statistics are used.
  virtual void finish(const Emission& /*emission*/, Statistics& /*out*/) {}

 private:
  Vector mean_;  // sum_x w(x) x
};

// unseen(m, k) += (1 - exposure of channel m) x_k.
HEADWATER_EXPORT void add_unexposed(const Observation& y, const Eigen::Ref<const Vector>& x,
                                    Statistics& out);

// A law of the counts in the form that engines use: its functions handle blocks of activations and
// all channels at once. CellLaw explains gain, loss and the other terms. AnyLaw makes a BlockLaw
// from a plain class.
class HEADWATER_EXPORT BlockLaw {
 public:
  virtual ~BlockLaw() = default;
  virtual std::unique_ptr<BlockLaw> clone() const = 0;
  virtual std::string name() const = 0;

  // Whether the loss of every cell is its exposure, and only cells with a count have statistics of
  // the law's own. The loss then does not depend on the activations, and the term of a channel
  // without a count is linear in lambda.
  virtual bool has_plain_losses() const = 0;

  // What is computed once for each basis, for look_at() to find in the evidence. By default
  // nothing.
  virtual std::unique_ptr<BasisNotes> notes_of(const PaddedRows& /*basis*/) const { return {}; }

  // Fills the evidence of an observation. column_sums: those of the basis.
  virtual void look_at(const Observation& y, const PaddedRows& basis, const Vector& column_sums,
                       Evidence& out) const = 0;
  // The part of log p(y | x) that does not depend on x.
  virtual double log_base_measure(const Observation& y) const = 0;

  // Evidence has functions of the same names, which call these.
  virtual void log_likelihoods(const Evidence& evidence,
                               const Eigen::Ref<const Matrix>& activations,
                               std::span<const double> rows, const Vector& total,
                               std::span<double> out) const = 0;
  // out[i] += rest(x_i): see Evidence. By default there is none.
  virtual void add_rest(const Evidence& /*evidence*/,
                        const Eigen::Ref<const Matrix>& /*activations*/,
                        std::span<double> /*out*/) const {}
  virtual double value(const Evidence& evidence, std::span<const double> intensities) const = 0;
  virtual void forces(const Evidence& evidence, std::span<const double> intensities,
                      Forces& out) const = 0;

  // Computes gains, losses and their slopes at one activation x, for a search for the best one. x
  // is padded as the basis is. Returns false if the counts are impossible under x. A process that
  // shares the sum (Reducer::shared_sum) may leave out the forces of channels that are not its own.
  virtual bool climb(const Evidence& evidence, const PaddedRows& basis, std::span<const double> x,
                     PointForces& out) const = 0;
  // After climb() at the same x: computes the curvatures and returns sum_j f_j + rest(x) (see
  // Evidence). The gains of all channels are known afterwards.
  virtual double settle(const Evidence& evidence, const PaddedRows& basis,
                        std::span<const double> x, PointForces& out) const = 0;

  virtual CellForces cell_forces(Index channel, double count, double exposure,
                                 double intensity) const = 0;
  // The same for a cell of an observation, which may have dispersions of its own.
  virtual CellForces forces_in(const Observation&, Index channel, double count, double exposure,
                               double intensity) const {
    return cell_forces(channel, count, exposure, intensity);
  }

  // The loss of a cell of exposure 1, expected over its counts. By default where the count is its
  // mean, which is the same if the loss is linear in the count.
  virtual double expected_loss(Index channel, double intensity) const {
    return cell_forces(channel, intensity, 1, intensity).loss;
  }

  // Whether that is 1 for every cell.
  virtual bool expected_losses_are_one() const { return has_plain_losses(); }

  // By default, both use the functions above; a law may override them with something faster.
  virtual std::unique_ptr<StateLikelihoods> state_likelihoods(Matrix states) const;
  virtual std::unique_ptr<EmissionSums> sums() const;

  // out(i) = the expected information on lambda_i of a cell of channel m with exposure 1.
  virtual void information(Index channel, std::span<const double> intensities,
                           std::span<double> out) const = 0;
  virtual VarianceFunction variance(Index channel) const = 0;
  virtual double draw(Index channel, double mean, Generator& generator) const = 0;
  // A count of a law whose channels drift, where this is the dispersion of the level; 0 if the
  // level is known.
  virtual double draw_at_level(Index channel, double mean, double /*dispersion*/,
                               Generator& generator) const {
    return draw(channel, mean, generator);
  }

  // The law's own parameters: none unless it is learnable.
  virtual Parameters parameters() const = 0;
  virtual void set_parameter(const Parameter& parameter) = 0;
  virtual Index num_statistics(Index num_channels) const = 0;
  // out += weight times the law's own statistics of one cell.
  virtual void add_statistics(Index channel, double count, double exposure, double intensity,
                              double weight, std::span<double> out) const = 0;
  // See LearnableLaw. mean_counts: of each channel, up to a common factor; may be empty.
  virtual void maximise(std::span<const double> statistics, double observations, const Held& held,
                        std::span<const double> mean_counts) = 0;
};

}  // namespace headwater
