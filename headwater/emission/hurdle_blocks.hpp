#pragma once

#include "headwater/block_law.hpp"
#include "headwater/emission/hurdle.hpp"

namespace headwater {

// The hurdle law by vector kernels. Without levels, a channel is listed if it has a count, and all
// intensities are in the total, as under the Poisson law; a listed channel then has the term
//   f(lambda) = log(1 - exp(-exposure lambda)) + exposure lambda.
// With levels, every channel seen is listed, unless its dispersion is 0.
class HurdleBlocks final : public BlockLaw {
 public:
  explicit HurdleBlocks(Hurdle cell) : cell_(std::move(cell)) {}
  std::unique_ptr<BlockLaw> clone() const override { return std::make_unique<HurdleBlocks>(*this); }
  std::string name() const override { return cell_.name(); }
  bool has_plain_losses() const override { return !cell_.drifts(); }

  // Of a cell of an observation, which may have dispersions of its own.
  double dispersion(const Observation& y, Index channel) const {
    return y.dispersions().empty() ? cell_.dispersion(channel) : y.dispersions()[channel];
  }

  void look_at(const Observation& y, const PaddedRows& basis, const Vector& column_sums,
               Evidence& out) const override;
  double log_base_measure(const Observation& y) const override;
  void log_likelihoods(const Evidence& evidence, const Eigen::Ref<const Matrix>& activations,
                       std::span<const double> rows, const Vector& total,
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
  CellForces forces_in(const Observation& y, Index channel, double count, double exposure,
                       double intensity) const override;
  double expected_loss(Index, double) const override { return 1; }

  std::unique_ptr<StateLikelihoods> state_likelihoods(Matrix states) const override;
  std::unique_ptr<EmissionSums> sums() const override;

  void information(Index channel, std::span<const double> intensities,
                   std::span<double> out) const override;
  VarianceFunction variance(Index channel) const override { return cell_.variance(channel); }
  double draw(Index channel, double mean, Generator& generator) const override {
    return cell_.draw(channel, mean, generator);
  }
  double draw_at_level(Index channel, double mean, double dispersion,
                       Generator& generator) const override {
    return cell_.draw(channel, mean, dispersion, generator);
  }

  Parameters parameters() const override { return cell_.parameters(); }
  void set_parameter(const Parameter& parameter) override { cell_.set_parameter(parameter); }
  Index num_statistics(Index num_channels) const override {
    return cell_.num_statistics(num_channels);
  }
  void add_statistics(Index channel, double count, double exposure, double intensity, double weight,
                      std::span<double> out) const override {
    cell_.add_statistics(channel, count, exposure * intensity, weight, out);
  }
  void maximise(std::span<const double> statistics, double observations, const Held& held,
                std::span<const double>) override {
    cell_.maximise(statistics, observations, held);
  }

 private:
  Hurdle cell_;
};

// For activations in the rows of a block: log P(0) of a channel with this row of the basis,
//   -exposure lambda, or -(1 / phi) log(1 + phi exposure lambda).
void log_silences(const Eigen::Ref<const Matrix>& activations, std::span<const double> row,
                  double exposure, double dispersion, std::span<double> out);

}  // namespace headwater
