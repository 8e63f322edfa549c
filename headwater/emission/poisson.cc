#include "headwater/emission/poisson.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "headwater/core/special.hpp"
#include "headwater/emission/poisson_states.hpp"
#include "headwater/emission/poisson_sums.hpp"
#include "headwater/emission/shared_rows.hpp"
#include "headwater/error.hpp"
#include "headwater/kernels/elementary.hpp"
#include "headwater/kernels/poisson.hpp"
#include "headwater/kernels/poisson_slopes.hpp"
#include "headwater/parallel/ranks.hpp"
#include "headwater/random.hpp"

namespace headwater {

namespace {

// The counts of an observation, for the kernel that all its likelihoods are computed by.
class PoissonNotes final : public LawNotes {
 public:
  std::unique_ptr<LawNotes> clone() const override { return std::make_unique<PoissonNotes>(*this); }

  CountRuns counts;
};

// The Poisson law by vector kernels. A channel is listed if it has a count: its term is then
// f(lambda) = y log lambda, and all intensities, with their exposures, are in the total.
class PoissonBlocks final : public BlockLaw {
 public:
  std::unique_ptr<BlockLaw> clone() const override {
    return std::make_unique<PoissonBlocks>(*this);
  }
  std::string name() const override { return cell_.name(); }
  bool has_plain_losses() const override { return true; }

  void look_at(const Observation& y, const PaddedRows& basis, const Vector& column_sums,
               Evidence& out) const override {
    out.begin(*this, y, basis);
    Vector& total = out.mutable_total();
    total = column_sums;
    if (!y.exposed().empty()) in_turn(as_span(total), [&] { take_off_unexposed(y, basis, total); });
    for (std::size_t j = 0; j < y.channels().size(); ++j) out.list(y.channels()[j], y.counts()[j]);
    out.finish();
    out.mutable_notes<PoissonNotes>().counts.set(y.counts(), out.stretches());
  }

  // sum over the channels seen of y_m log exposure(m) - log Gamma(y_m + 1).
  double log_base_measure(const Observation& y) const override {
    double sum = 0;
    for (const double count : y.counts()) sum -= log_factorial(count);
    if (y.exposed().empty()) return sum;
    for_each_count(y, [&](std::size_t j, double exposure) {
      if (exposure != 1) sum += y.counts()[j] * std::log(exposure);
    });
    return sum;
  }

  void log_likelihoods(const Evidence& evidence, const Eigen::Ref<const Matrix>& activations,
                       std::span<const double> rows, const Vector& total,
                       std::span<double> out) const override {
    const CountRuns& runs = static_cast<const PoissonNotes&>(evidence.notes()).counts;
    if (evidence.stretches().size() <= 1) {
      find_by_owner(evidence.stretches(), out,
                    [&] { poisson_log_likelihoods(activations, rows, runs, as_span(total), out); });
      return;
    }
    Eigen::Map<Vector>(out.data(), activations.rows()).noalias() = -(activations * total);
    Reducer::shared_sum(evidence.stretches(), out,
                        [&](const Stretch& stretch, std::span<double> to) {
                          add_count_logarithms(activations, rows, runs.runs_of(stretch), to);
                        });
  }

  double value(const Evidence& evidence, std::span<const double> intensities) const override {
    thread_local std::vector<double> logarithms;
    logarithms.resize(intensities.size());
    vector_log(intensities, logarithms);
    return Reducer::sum(evidence.stretches(),
                        [&](const Stretch& stretch) { return dot(evidence, logarithms, stretch); });
  }

  void forces(const Evidence& evidence, std::span<const double> intensities,
              Forces& out) const override {
    const std::span<const double> counts = evidence.counts();
    out.losses.clear();
    out.gains.resize(counts.size());
    out.curvatures.resize(counts.size());
    for (std::size_t j = 0; j < counts.size(); ++j) {
      out.gains[j] = counts[j] / intensities[j];
      out.curvatures[j] = out.gains[j] / intensities[j];
    }
  }

  bool climb(const Evidence& evidence, const PaddedRows& basis, std::span<const double> x,
             PointForces& out) const override {
    out.losses.clear();
    out.loss_slopes.clear();
    out.gains.resize(evidence.channels().size());
    out.gain_slopes.resize(static_cast<std::size_t>(basis.stride()));
    const std::span<double> gains = out.gains;
    if (evidence.stretches().empty()) std::ranges::fill(out.gain_slopes, 0);
    const bool is_shared = SharedChannels::of_own_rows() != nullptr;
    if (evidence.stretches().size() > (is_shared ? 0 : 1)) {
      return climb_by_blocks(evidence, basis, x, out);
    }
    poisson_slopes(basis, evidence.channels(), evidence.counts(), x, gains, out.gain_slopes);
    return std::ranges::find(gains, 0.0) == gains.end();
  }

  // From gains y / lambda: lambda = y / gain, and the curvature y / lambda^2 = gain^2 / y.
  double settle(const Evidence& evidence, const PaddedRows&, std::span<const double>,
                PointForces& out) const override {
    const std::span<const double> counts = evidence.counts();
    gather_list(evidence.channels(), out.gains);
    out.curvatures.resize(counts.size());
    double sum = 0;
    Reducer::shared_sum(
        evidence.stretches(), {&sum, 1}, [&](const Stretch& s, std::span<double> to) {
          const std::span<double> logarithms = std::span(out.curvatures).subspan(s.first, s.size);
          for (std::size_t j = 0; j < s.size; ++j) {
            logarithms[j] = counts[s.first + j] / out.gains[s.first + j];
          }
          vector_log(logarithms, logarithms);
          to[0] += dot(evidence, out.curvatures, s);
        });
    for (std::size_t j = 0; j < counts.size(); ++j) {
      out.curvatures[j] = out.gains[j] * out.gains[j] / counts[j];
    }
    return sum;
  }

  CellForces cell_forces(Index channel, double count, double exposure,
                         double intensity) const override {
    return {cell_.gain(channel, count, intensity), exposure};
  }

  std::unique_ptr<StateLikelihoods> state_likelihoods(Matrix states) const override {
    return std::make_unique<PoissonStateLikelihoods>(std::move(states));
  }
  std::unique_ptr<EmissionSums> sums() const override { return std::make_unique<PoissonSums>(); }

  void information(Index channel, std::span<const double> intensities,
                   std::span<double> out) const override {
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = cell_.information(channel, intensities[i]);
    }
  }
  VarianceFunction variance(Index channel) const override { return cell_.variance(channel); }
  double draw(Index channel, double mean, Generator& generator) const override {
    return cell_.draw(channel, mean, generator);
  }

  Parameters parameters() const override { return {}; }
  void set_parameter(const Parameter& parameter) override {
    throw UsageError("the law 'poisson' has no parameter '" + parameter.name + "'");
  }
  Index num_statistics(Index) const override { return 0; }
  void add_statistics(Index, double, double, double, double, std::span<double>) const override {}
  void maximise(std::span<const double>, double, const Held&, std::span<const double>) override {}

 private:
  static void take_off_unexposed(const Observation& y, const PaddedRows& basis, Vector& total) {
    const Stretch kept = kept_part(y.exposed(), y.num_channels());
    for (std::size_t j = kept.first; j < kept.first + kept.size; ++j) {
      const Eigen::Map<const Vector> row(basis.row(y.exposed()[j]), basis.cols());
      total -= (1 - y.exposures()[j]) * row;
    }
  }

  // The slopes, and one number more: the channels of zero intensity, which no rank sees alone.
  static bool climb_by_blocks(const Evidence& evidence, const PaddedRows& basis,
                              std::span<const double> x, PointForces& out) {
    const std::size_t stride = out.gain_slopes.size();
    thread_local std::vector<double> sums;
    sums.assign(stride + 1, 0);
    Reducer::shared_sum(evidence.stretches(), sums, [&](const Stretch& s, std::span<double> to) {
      const std::span<double> gains = std::span(out.gains).subspan(s.first, s.size);
      poisson_slopes(basis, evidence.channels().subspan(s.first, s.size),
                     evidence.counts().subspan(s.first, s.size), x, gains, to.first(stride));
      to[stride] += static_cast<double>(std::ranges::count(gains, 0.0));
    });
    std::copy_n(sums.begin(), stride, out.gain_slopes.begin());
    return sums[stride] == 0;
  }

  // sum_j y_j values_j over a stretch
  static double dot(const Evidence& evidence, std::span<const double> values,
                    const Stretch& stretch) {
    const auto size = static_cast<Index>(stretch.size);
    return Eigen::Map<const Vector>(values.data() + stretch.first, size)
        .dot(Eigen::Map<const Vector>(evidence.counts().data() + stretch.first, size));
  }

  Poisson cell_;
};

}  // namespace

double Poisson::log_density(Index, double y, double mean) const {
  if (y == 0) return -mean;
  if (!(mean > 0)) return -std::numeric_limits<double>::infinity();
  return y * std::log(mean) - mean - log_factorial(y);
}

double Poisson::draw(Index, double mean, Generator& generator) const {
  return poisson(generator, mean);
}

std::unique_ptr<BlockLaw> Poisson::in_blocks() const { return std::make_unique<PoissonBlocks>(); }

}  // namespace headwater
