#pragma once

#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "headwater/cell_law.hpp"
#include "headwater/clone_pointer.hpp"
#include "headwater/error.hpp"
#include "headwater/export.hpp"

namespace headwater {

// Makes a BlockLaw, which engines use, from a plain class that describes single cells. The evidence
// lists every channel that was observed. This is slow; faster block laws are tested against it.
template <CellLaw L>
class CellwiseLaw final : public BlockLaw {
 public:
  explicit CellwiseLaw(L law) : law_(std::move(law)) {}

  std::unique_ptr<BlockLaw> clone() const override { return std::make_unique<CellwiseLaw>(*this); }
  std::string name() const override { return law_.name(); }
  bool has_plain_losses() const override { return false; }

  void look_at(const Observation& y, const PaddedRows& basis, const Vector&,
               Evidence& out) const override {
    out.begin(*this, y, basis);
    for_each_seen(y, [&](Index m, double count, double exposure) { out.list(m, count, exposure); });
    out.mutable_total().setZero(basis.cols());
    out.finish();
  }

  double log_base_measure(const Observation&) const override { return 0; }

  void log_likelihoods(const Evidence& evidence, const Eigen::Ref<const Matrix>& activations,
                       std::span<const double> rows, const Vector& total,
                       std::span<double> out) const override {
    Eigen::Map<Vector> sums(out.data(), static_cast<Index>(out.size()));
    sums.noalias() = -(activations * total);
    const Index columns = activations.cols();
    Reducer::sum(evidence.stretches(), out, [&](const Stretch& stretch, std::span<double> to) {
      for (std::size_t j = stretch.first; j < stretch.first + stretch.size; ++j) {
        const Eigen::Map<const Vector> row(rows.data() + j * static_cast<std::size_t>(columns),
                                           columns);
        for (std::size_t i = 0; i < to.size(); ++i) {
          const double intensity = activations.row(static_cast<Index>(i)).dot(row);
          to[i] += log_density(evidence, j, intensity);
        }
      }
    });
  }

  double value(const Evidence& evidence, std::span<const double> intensities) const override {
    return Reducer::sum(evidence.stretches(), [&](const Stretch& stretch) {
      double sum = 0;
      for (std::size_t j = stretch.first; j < stretch.first + stretch.size; ++j) {
        sum += log_density(evidence, j, intensities[j]);
      }
      return sum;
    });
  }

  void forces(const Evidence& evidence, std::span<const double> intensities,
              Forces& out) const override {
    const std::size_t size = evidence.channels().size();
    out.gains.resize(size);
    out.losses.resize(size);
    out.curvatures.resize(size);
    for (std::size_t j = 0; j < size; ++j) set_forces(evidence, j, intensities[j], out);
  }

  bool climb(const Evidence& evidence, const PaddedRows& basis, std::span<const double> x,
             PointForces& out) const override {
    const std::size_t size = evidence.channels().size();
    const auto stride = static_cast<std::size_t>(basis.stride());
    out.gains.resize(size);
    out.losses.resize(size);
    out.curvatures.resize(size);
    out.gain_slopes.assign(stride, 0);
    out.loss_slopes.assign(stride, 0);
    bool explains = true;
    for (std::size_t j = 0; j < size; ++j) {
      const double intensity = intensity_at(evidence, j, basis, x);
      set_forces(evidence, j, intensity, out);
      explains &= std::isfinite(log_density(evidence, j, intensity));
    }
    const auto add_slopes = [&](const std::vector<double>& forces, std::vector<double>& slopes) {
      Reducer::sum(evidence.stretches(), slopes, [&](const Stretch& stretch, std::span<double> to) {
        for (std::size_t j = stretch.first; j < stretch.first + stretch.size; ++j) {
          const double* row = basis.row(evidence.channels()[j]);
          for (std::size_t k = 0; k < to.size(); ++k) to[k] += forces[j] * row[k];
        }
      });
    };
    add_slopes(out.gains, out.gain_slopes);
    add_slopes(out.losses, out.loss_slopes);
    return explains;
  }

  double settle(const Evidence& evidence, const PaddedRows& basis, std::span<const double> x,
                PointForces&) const override {
    return Reducer::sum(evidence.stretches(), [&](const Stretch& stretch) {
      double sum = 0;
      for (std::size_t j = stretch.first; j < stretch.first + stretch.size; ++j) {
        sum += log_density(evidence, j, intensity_at(evidence, j, basis, x));
      }
      return sum;
    });
  }

  CellForces cell_forces(Index channel, double count, double exposure,
                         double intensity) const override {
    const double mean = exposure * intensity;
    return {exposure * law_.gain(channel, count, mean), exposure * law_.loss(channel, count, mean)};
  }

  void information(Index channel, std::span<const double> intensities,
                   std::span<double> out) const override {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = law_.information(channel, intensities[i]);
  }
  VarianceFunction variance(Index channel) const override { return law_.variance(channel); }
  double draw(Index channel, double mean, Generator& generator) const override {
    return law_.draw(channel, mean, generator);
  }

  Parameters parameters() const override {
    if constexpr (LearnableLaw<L>) return law_.parameters();
    return {};
  }
  void set_parameter([[maybe_unused]] const Parameter& parameter) override {
    if constexpr (LearnableLaw<L>) {
      law_.set_parameter(parameter);
    } else {
      throw UsageError("the law '" + name() + "' has no parameter '" + parameter.name + "'");
    }
  }
  Index num_statistics([[maybe_unused]] Index num_channels) const override {
    if constexpr (LearnableLaw<L>) return law_.num_statistics(num_channels);
    return 0;
  }
  void add_statistics([[maybe_unused]] Index channel, [[maybe_unused]] double count,
                      [[maybe_unused]] double exposure, [[maybe_unused]] double intensity,
                      [[maybe_unused]] double weight,
                      [[maybe_unused]] std::span<double> out) const override {
    if constexpr (LearnableLaw<L>) {
      law_.add_statistics(channel, count, exposure * intensity, weight, out);
    }
  }
  void maximise([[maybe_unused]] std::span<const double> statistics,
                [[maybe_unused]] double observations, [[maybe_unused]] const Held& held,
                [[maybe_unused]] std::span<const double> mean_counts) override {
    if constexpr (requires { law_.maximise(statistics, observations, held, mean_counts); }) {
      law_.maximise(statistics, observations, held, mean_counts);
    } else if constexpr (LearnableLaw<L>) {
      law_.maximise(statistics, observations, held);
    }
  }

 private:
  static double exposure_of(const Evidence& evidence, std::size_t j) {
    return evidence.exposures().empty() ? 1 : evidence.exposures()[j];
  }
  static double intensity_at(const Evidence& evidence, std::size_t j, const PaddedRows& basis,
                             std::span<const double> x) {
    const double* row = basis.row(evidence.channels()[j]);
    double intensity = 0;
    for (std::size_t k = 0; k < x.size(); ++k) intensity += row[k] * x[k];
    return intensity;
  }
  double log_density(const Evidence& evidence, std::size_t j, double intensity) const {
    return law_.log_density(evidence.channels()[j], evidence.counts()[j],
                            exposure_of(evidence, j) * intensity);
  }
  void set_forces(const Evidence& evidence, std::size_t j, double intensity, Forces& out) const {
    const double exposure = exposure_of(evidence, j);
    const Index channel = evidence.channels()[j];
    const CellForces forces = cell_forces(channel, evidence.counts()[j], exposure, intensity);
    out.gains[j] = forces.gain;
    out.losses[j] = forces.loss;
    out.curvatures[j] = exposure * exposure * law_.information(channel, exposure * intensity);
  }

  L law_;
};

// Any law of the counts, as a value (type erasure). Engines and learners are compiled once, against
// this class.
class HEADWATER_EXPORT AnyLaw {
 public:
  AnyLaw();  // Poisson
  template <class L>
  requires(!std::same_as<std::remove_cvref_t<L>, AnyLaw> && detail::IntendedLaw<L>) AnyLaw(L law)
      : law_(in_blocks(std::move(law))) {
    static_assert(detail::explain_missing_law_functions<L>());
  }

  const BlockLaw& operator*() const { return *law_; }
  const BlockLaw* operator->() const { return law_.get(); }

  Parameters parameters() const { return law_->parameters(); }
  void set_parameter(const Parameter& parameter) { law_->set_parameter(parameter); }
  void maximise(std::span<const double> statistics, double observations, const Held& held,
                std::span<const double> mean_counts = {}) {
    law_->maximise(statistics, observations, held, mean_counts);
  }

  // Saves or restores the law's parameters. Which law it is, is not saved: the object that reads
  // must already hold the same law.
  void exchange(StateArchive& archive);

 private:
  template <class L>
  static std::unique_ptr<BlockLaw> in_blocks(L law) {
    if constexpr (BlockedLaw<L>) {
      return law.in_blocks();
    } else {
      return std::make_unique<CellwiseLaw<L>>(std::move(law));
    }
  }

  ClonePointer<BlockLaw> law_;
};

}  // namespace headwater
