#include "headwater/emission/negative_binomial_blocks.hpp"

#include <algorithm>
#include <cmath>

#include "headwater/core/special.hpp"
#include "headwater/emission/dispersion_estimates.hpp"
#include "headwater/emission/negative_binomial_states.hpp"
#include "headwater/emission/negative_binomial_sums.hpp"
#include "headwater/emission/negative_binomial_terms.hpp"
#include "headwater/emission/shared_rows.hpp"
#include "headwater/kernels/elementary.hpp"
#include "headwater/kernels/negative_binomial.hpp"
#include "headwater/kernels/poisson.hpp"
#include "headwater/kernels/poisson_slopes.hpp"

namespace headwater {

namespace {

// The listed channels of an observation as the kernels want them.
class NegativeBinomialNotes final : public LawNotes {
 public:
  std::unique_ptr<LawNotes> clone() const override {
    return std::make_unique<NegativeBinomialNotes>(*this);
  }

  std::vector<double> scales;   // dispersion times exposure: z = scale lambda
  std::vector<double> weights;  // y + 1 / phi; 0 where phi = 0
  std::vector<double> factors;  // the loss at zero intensity: scale times weight
  // Those with a count: where they are in the list, and the counts themselves.
  std::vector<std::size_t> positions;
  std::vector<Index> channels;
  std::vector<double> counts;
  std::vector<Stretch> stretches;  // of them, one for each stretch of the list
  CountRuns runs;
};

const NegativeBinomialNotes& notes_of(const Evidence& evidence) {
  return static_cast<const NegativeBinomialNotes&>(evidence.notes());
}

double exposure_at(const Evidence& evidence, std::size_t j) {
  return evidence.exposures().empty() ? 1 : evidence.exposures()[j];
}

void take_notes(const Evidence& evidence, const NegativeBinomialBlocks& law,
                NegativeBinomialNotes& notes) {
  notes.scales.clear();
  notes.weights.clear();
  notes.factors.clear();
  notes.positions.clear();
  notes.channels.clear();
  notes.counts.clear();
  notes.stretches.clear();
  for (const Stretch& stretch : evidence.stretches()) {
    const std::size_t first = notes.counts.size();
    for (std::size_t j = stretch.first; j < stretch.first + stretch.size; ++j) {
      const double phi = law.dispersion(evidence.observation(), evidence.channels()[j]);
      const double count = evidence.counts()[j];
      notes.scales.push_back(phi * exposure_at(evidence, j));
      notes.weights.push_back(phi > 0 ? count + 1 / phi : 0);
      notes.factors.push_back(phi > 0 ? exposure_at(evidence, j) * (1 + phi * count) : 0);
      if (count == 0) continue;
      notes.positions.push_back(j);
      notes.channels.push_back(evidence.channels()[j]);
      notes.counts.push_back(count);
    }
    notes.stretches.push_back({first, notes.counts.size() - first, stretch.block});
  }
  notes.runs.set(notes.counts, notes.stretches);
}

// lambda_j at one activation, padded as the basis is.
double intensity_at(const PaddedRows& basis, Index channel, std::span<const double> x) {
  const auto size = static_cast<Index>(x.size());
  return Eigen::Map<const Vector>(basis.row(channel), size)
      .dot(Eigen::Map<const Vector>(x.data(), size));
}

// In place of -f''(lambda), the expected one.
double curvature_of(double scale, double exposure, double intensity) {
  return intensity > 0 ? exposure / (intensity * (1 + scale * intensity)) : 0;
}

// The same stretch of blocks in the list of channels with a count.
const Stretch& counted_in(const Evidence& evidence, const Stretch& stretch) {
  return notes_of(evidence)
      .stretches[static_cast<std::size_t>(&stretch - evidence.stretches().data())];
}

// sum_j f_j over one of the stretches.
double value_of(const Evidence& evidence, const Stretch& stretch,
                std::span<const double> intensities) {
  const NegativeBinomialNotes& notes = notes_of(evidence);
  const Stretch& counted = counted_in(evidence, stretch);
  thread_local std::vector<double> logarithms;
  logarithms.resize(counted.size);
  for (std::size_t i = 0; i < counted.size; ++i) {
    logarithms[i] = intensities[notes.positions[counted.first + i]];
  }
  vector_log(logarithms, logarithms);
  // log(1 + z): the logarithm of the rounded sum, and a first-order term for what the rounding left
  // out.
  thread_local std::vector<double> softened;
  softened.resize(stretch.size);
  for (std::size_t j = 0; j < stretch.size; ++j) {
    softened[j] = 1 + notes.scales[stretch.first + j] * intensities[stretch.first + j];
  }
  vector_log(softened, softened);
  double sum = 0;
  for (std::size_t i = 0; i < counted.size; ++i) {
    sum += notes.counts[counted.first + i] * logarithms[i];
  }
  for (std::size_t j = 0; j < stretch.size; ++j) {
    const double z = notes.scales[stretch.first + j] * intensities[stretch.first + j];
    const double rounded = 1 + z;
    sum -= notes.weights[stretch.first + j] * (softened[j] + (z - (rounded - 1)) / rounded);
  }
  return sum;
}

// Each process comes with the gains of its own channels. Only those with a count have one.
void gather_gains(const Evidence& evidence, std::vector<double>& gains) {
  const NegativeBinomialNotes& notes = notes_of(evidence);
  thread_local std::vector<double> counted;
  counted.clear();
  for (const std::size_t j : notes.positions) counted.push_back(gains[j]);
  gather_list(notes.channels, counted);
  for (std::size_t i = 0; i < counted.size(); ++i) gains[notes.positions[i]] = counted[i];
}

void resize(std::size_t size, Forces& out) {
  out.gains.resize(size);
  out.losses.resize(size);
  out.curvatures.resize(size);
}

}  // namespace

std::unique_ptr<BlockLaw> NegativeBinomial::in_blocks() const {
  return std::make_unique<NegativeBinomialBlocks>(*this);
}

void NegativeBinomialBlocks::prepare_limits() {
  const Matrix dispersion = cell_.parameters()[0].value;
  limits_ = dispersion.unaryExpr(&negative_binomial::information_limit).reshaped();
}

void NegativeBinomialBlocks::look_at(const Observation& y, const PaddedRows& basis, const Vector&,
                                     Evidence& out) const {
  out.begin(*this, y, basis);
  Vector& total = out.mutable_total();
  total.setZero(basis.cols());
  const bool has_exposures = !y.exposed().empty();
  for_each_seen(y, [&](Index m, double count, double exposure) {
    const bool is_linear = dispersion(y, m) == 0;
    if (is_linear) total += exposure * Eigen::Map<const Vector>(basis.row(m), basis.cols());
    if (is_linear && count == 0) return;
    if (has_exposures) {
      out.list(m, count, exposure);
    } else {
      out.list(m, count);
    }
  });
  out.finish();
  take_notes(out, *this, out.mutable_notes<NegativeBinomialNotes>());
}

// sum over the channels seen of rising_logs(y_m, phi_m) + y_m log exposure(m) - log Gamma(y_m + 1).
double NegativeBinomialBlocks::log_base_measure(const Observation& y) const {
  double sum = 0;
  for_each_count(y, [&](std::size_t j, double exposure) {
    const double count = y.counts()[j];
    sum += negative_binomial::rising_logs(count, dispersion(y, y.channels()[j])) -
           log_factorial(count);
    if (exposure != 1) sum += count * std::log(exposure);
  });
  return sum;
}

void NegativeBinomialBlocks::log_likelihoods(const Evidence& evidence,
                                             const Eigen::Ref<const Matrix>& activations,
                                             std::span<const double> rows, const Vector& total,
                                             std::span<double> out) const {
  const NegativeBinomialNotes& notes = notes_of(evidence);
  const auto columns = static_cast<std::size_t>(activations.cols());
  // The rows of the channels with a count, one after the other.
  thread_local std::vector<double> count_rows;
  count_rows.resize(notes.positions.size() * columns);
  auto to = count_rows.begin();
  for (const std::size_t j : notes.positions) {
    to = std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(j * columns), columns, to);
  }
  Eigen::Map<Vector>(out.data(), activations.rows()).noalias() = -(activations * total);
  Reducer::shared_sum(
      evidence.stretches(), out, [&](const Stretch& stretch, std::span<double> sums) {
        const Stretch& counted = counted_in(evidence, stretch);
        add_count_logarithms(activations, count_rows, notes.runs.runs_of(counted), sums);
        const auto part = [&](std::span<const double> all, std::size_t width) {
          return all.subspan(stretch.first * width, stretch.size * width);
        };
        subtract_softened_logs(activations, {part(rows, columns), part(notes.scales, 1)},
                               part(notes.weights, 1), sums);
      });
}

double NegativeBinomialBlocks::value(const Evidence& evidence,
                                     std::span<const double> intensities) const {
  return Reducer::sum(evidence.stretches(), [&](const Stretch& stretch) {
    return value_of(evidence, stretch, intensities);
  });
}

void NegativeBinomialBlocks::forces(const Evidence& evidence, std::span<const double> intensities,
                                    Forces& out) const {
  const NegativeBinomialNotes& notes = notes_of(evidence);
  resize(intensities.size(), out);
  for (std::size_t j = 0; j < intensities.size(); ++j) {
    const double count = evidence.counts()[j];
    out.gains[j] = count > 0 && intensities[j] > 0 ? count / intensities[j] : 0;
    out.losses[j] = notes.factors[j] / (1 + notes.scales[j] * intensities[j]);
    out.curvatures[j] = curvature_of(notes.scales[j], exposure_at(evidence, j), intensities[j]);
  }
}

// Gains of the channels that have counts, losses of all that are listed.
bool NegativeBinomialBlocks::climb(const Evidence& evidence, const PaddedRows& basis,
                                   std::span<const double> x, PointForces& out) const {
  const NegativeBinomialNotes& notes = notes_of(evidence);
  const auto stride = static_cast<std::size_t>(basis.stride());
  resize(evidence.channels().size(), out);
  thread_local std::vector<double> gains;  // of the channels with counts
  gains.resize(notes.counts.size());
  // The slopes, and one number more: the channels of zero intensity, which no rank sees alone.
  out.gain_slopes.assign(stride + 1, 0);
  Reducer::shared_sum(
      notes.stretches, out.gain_slopes, [&](const Stretch& s, std::span<double> to) {
        const std::span<double> own = std::span(gains).subspan(s.first, s.size);
        poisson_slopes(basis, std::span(notes.channels).subspan(s.first, s.size),
                       std::span(notes.counts).subspan(s.first, s.size), x, own, to.first(stride));
        to[stride] += static_cast<double>(std::ranges::count(own, 0.0));
      });
  const bool explains = out.gain_slopes[stride] == 0;
  out.gain_slopes.resize(stride);
  std::ranges::fill(out.gains, 0.0);
  for (std::size_t i = 0; i < gains.size(); ++i) out.gains[notes.positions[i]] = gains[i];
  out.loss_slopes.assign(stride, 0);
  Reducer::shared_sum(evidence.stretches(), out.loss_slopes,
                      [&](const Stretch& s, std::span<double> to) {
                        softened_slopes(basis, evidence.channels().subspan(s.first, s.size),
                                        std::span(notes.factors).subspan(s.first, s.size),
                                        std::span(notes.scales).subspan(s.first, s.size), x,
                                        std::span(out.losses).subspan(s.first, s.size), to);
                      });
  return explains;
}

double NegativeBinomialBlocks::settle(const Evidence& evidence, const PaddedRows& basis,
                                      std::span<const double> x, PointForces& out) const {
  const NegativeBinomialNotes& notes = notes_of(evidence);
  thread_local std::vector<double> intensities;
  intensities.resize(evidence.channels().size());
  gather_gains(evidence, out.gains);
  double sum = 0;
  Reducer::shared_sum(evidence.stretches(), {&sum, 1}, [&](const Stretch& s, std::span<double> to) {
    for (std::size_t j = s.first; j < s.first + s.size; ++j) {
      intensities[j] = intensity_at(basis, evidence.channels()[j], x);
      out.curvatures[j] = curvature_of(notes.scales[j], exposure_at(evidence, j), intensities[j]);
    }
    to[0] += value_of(evidence, s, intensities);
  });
  return sum;
}

CellForces NegativeBinomialBlocks::cell_forces(Index channel, double count, double exposure,
                                               double intensity) const {
  return {cell_.gain(channel, count, intensity),
          exposure * cell_.loss(channel, count, exposure * intensity)};
}

CellForces NegativeBinomialBlocks::forces_in(const Observation& y, Index channel, double count,
                                             double exposure, double intensity) const {
  if (y.dispersions().empty()) return cell_forces(channel, count, exposure, intensity);
  const NegativeBinomial own(Vector::Constant(1, y.dispersions()[channel]));
  return {own.gain(0, count, intensity), exposure * own.loss(0, count, exposure * intensity)};
}

std::unique_ptr<StateLikelihoods> NegativeBinomialBlocks::state_likelihoods(Matrix states) const {
  // Tables are of no use where dispersions change from one observation to the next.
  if (cell_.drifts()) return BlockLaw::state_likelihoods(std::move(states));
  return std::make_unique<NegativeBinomialStateLikelihoods>(std::move(states));
}

std::unique_ptr<EmissionSums> NegativeBinomialBlocks::sums() const {
  return std::make_unique<NegativeBinomialSums>();
}

void NegativeBinomialBlocks::add_statistics(Index channel, double count, double exposure,
                                            double intensity, double weight,
                                            std::span<double> out) const {
  const double phi = dispersion(channel);
  const double mean = exposure * intensity;
  constexpr auto kSize = static_cast<std::size_t>(DispersionStatistics::kPerChannel);
  DispersionStatistics::add(weight, phi, negative_binomial::dispersion_score(count, mean, phi),
                            negative_binomial::dispersion_information(mean, phi, limit(channel)),
                            out.subspan(static_cast<std::size_t>(channel) * kSize, kSize));
}

void NegativeBinomialBlocks::information(Index channel, std::span<const double> intensities,
                                         std::span<double> out) const {
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = cell_.information(channel, intensities[i]);
}

}  // namespace headwater
