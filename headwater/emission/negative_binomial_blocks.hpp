#pragma once

#include "headwater/block_law.hpp"
#include "headwater/emission/negative_binomial.hpp"

namespace headwater {

class QuietChannels;

// The negative binomial law by vector kernels. Every channel seen is listed, with the term
//   f(lambda) = y log lambda - (y + 1 / phi) log(1 + phi exposure lambda),
// unless its dispersion is 0. Such a channel is as under the Poisson law: it is listed if it has a
// count, with f(lambda) = y log lambda, and its intensity is in the total.
//
// Where channels are many and counts are few, channels without a count are not listed either: their
// intensities are in the total, and QuietChannels has the rest. A channel with a count is listed
// with the part of its term that the count is in, f(lambda) = y log lambda - y log(1 + phi lambda).
class NegativeBinomialBlocks final : public BlockLaw {
 public:
  explicit NegativeBinomialBlocks(NegativeBinomial cell) : cell_(std::move(cell)) {
    prepare_limits();
  }
  std::unique_ptr<BlockLaw> clone() const override {
    return std::make_unique<NegativeBinomialBlocks>(*this);
  }
  std::string name() const override { return cell_.name(); }
  bool has_plain_losses() const override { return false; }

  double dispersion(Index channel) const { return cell_.dispersion(channel); }
  // ... of a cell of an observation, which may have dispersions of its own.
  double dispersion(const Observation& y, Index channel) const {
    return y.dispersions().empty() ? dispersion(channel) : y.dispersions()[channel];
  }
  // Where the terms of channels without a count are to be had from QuietChannels for this
  // observation; null where every channel is looked at.
  const QuietChannels* quiet_for(const Observation& y, const BasisNotes* notes) const;
  // See dispersion_information().
  double limit(Index channel) const { return limits_.size() == 1 ? limits_[0] : limits_[channel]; }

  std::unique_ptr<BasisNotes> notes_of(const PaddedRows& basis) const override;
  void look_at(const Observation& y, const PaddedRows& basis, const Vector& column_sums,
               Evidence& out) const override;
  double log_base_measure(const Observation& y) const override;
  void log_likelihoods(const Evidence& evidence, const Eigen::Ref<const Matrix>& activations,
                       std::span<const double> rows, const Vector& total,
                       std::span<double> out) const override;
  void add_rest(const Evidence& evidence, const Eigen::Ref<const Matrix>& activations,
                std::span<double> out) const override;
  double value(const Evidence& evidence, std::span<const double> intensities) const override;
  void forces(const Evidence& evidence, std::span<const double> intensities,
              Forces& out) const override;
  bool climb(const Evidence& evidence, const PaddedRows& basis, std::span<const double> x,
             PointForces& out) const override;
  double settle(const Evidence& evidence, const PaddedRows& basis, std::span<const double> x,
                PointForces& out) const override;
  CellForces cell_forces(Index channel, double count, double exposure,
                         double intensity) const override;
  bool expected_losses_are_one() const override { return true; }
  CellForces forces_in(const Observation& y, Index channel, double count, double exposure,
                       double intensity) const override;

  std::unique_ptr<StateLikelihoods> state_likelihoods(Matrix states) const override;
  std::unique_ptr<EmissionSums> sums() const override;

  void information(Index channel, std::span<const double> intensities,
                   std::span<double> out) const override;
  VarianceFunction variance(Index channel) const override { return cell_.variance(channel); }
  double draw(Index channel, double mean, Generator& generator) const override {
    return cell_.draw(channel, mean, generator);
  }
  double draw_at_level(Index, double mean, double dispersion, Generator& generator) const override {
    return NegativeBinomial(Vector::Constant(1, dispersion)).draw(0, mean, generator);
  }

  Parameters parameters() const override { return cell_.parameters(); }
  void set_parameter(const Parameter& parameter) override {
    cell_.set_parameter(parameter);
    prepare_limits();
  }
  Index num_statistics(Index num_channels) const override {
    return cell_.num_statistics(num_channels);
  }
  void add_statistics(Index channel, double count, double exposure, double intensity, double weight,
                      std::span<double> out) const override;
  void maximise(std::span<const double> statistics, double observations, const Held& held,
                std::span<const double> mean_counts) override {
    cell_.maximise(statistics, observations, held, mean_counts);
    prepare_limits();
  }

 private:
  void prepare_limits();

  NegativeBinomial cell_;
  Vector limits_;  // as many as there are dispersions
};

}  // namespace headwater
