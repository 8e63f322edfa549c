#include "headwater/emission/negative_binomial_blocks.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "headwater/core/special.hpp"
#include "headwater/emission/dispersion_estimates.hpp"
#include "headwater/emission/negative_binomial_notes.hpp"
#include "headwater/emission/negative_binomial_states.hpp"
#include "headwater/emission/negative_binomial_sums.hpp"
#include "headwater/emission/negative_binomial_terms.hpp"
#include "headwater/emission/quiet_channels.hpp"
#include "headwater/emission/shared_rows.hpp"
#include "headwater/kernels/elementary.hpp"
#include "headwater/kernels/negative_binomial.hpp"
#include "headwater/kernels/poisson_slopes.hpp"

namespace headwater {

namespace {

// lambda_j at one activation, padded as the basis is.
double intensity_at(const PaddedRows& basis, Index channel, std::span<const double> x) {
  const auto size = static_cast<Index>(x.size());
  return Eigen::Map<const Vector>(basis.row(channel), size)
      .dot(Eigen::Map<const Vector>(x.data(), size));
}

// In place of -f''(lambda), the expected one. Where only channels with counts are listed, the count
// stands for its mean, as it does under the Poisson law: the expectation is the same.
double curvature_of(const Evidence& evidence, const NegativeBinomialNotes& notes, std::size_t j,
                    double intensity) {
  if (!(intensity > 0)) return 0;
  const bool is_quiet = notes.quiet != nullptr && notes.is_quiet[j];
  const double expected = is_quiet ? evidence.counts()[j] / intensity : exposure_at(evidence, j);
  return expected / (intensity * (1 + notes.scales[j] * intensity));
}

// What is not linear of a channel without a count.
double rest_of(double intensity, double phi) {
  return intensity - negative_binomial::softened(intensity, phi);
}

// The rest at one activation, and slopes[k] += its derivatives.
double rest_at(const Evidence& evidence, const NegativeBinomialBlocks& law,
               std::span<const double> x, std::span<double> slopes) {
  const NegativeBinomialNotes& notes = NegativeBinomialNotes::of(evidence);
  if (notes.quiet == nullptr) return 0;
  double rest = notes.quiet->rest_at(x, slopes);
  for (const Index m : notes.excepted) {
    const double phi = law.dispersion(m);
    const double intensity = intensity_at(evidence.basis(), m, x);
    rest -= rest_of(intensity, phi);
    const double slope = phi * intensity / (1 + phi * intensity);
    for (std::size_t k = 0; k < slopes.size(); ++k) slopes[k] -= slope * evidence.basis().row(m)[k];
  }
  return rest;
}

// The same stretch of blocks in another list, such as that of the channels with a count.
const Stretch& same_in(std::span<const Stretch> others, const Evidence& evidence,
                       const Stretch& stretch) {
  return others[static_cast<std::size_t>(&stretch - evidence.stretches().data())];
}

// Some of the rows, one after the other.
void gather_rows(std::span<const double> rows, std::span<const std::size_t> positions,
                 std::size_t columns, std::vector<double>& out) {
  out.resize(positions.size() * columns);
  auto to = out.begin();
  for (const std::size_t j : positions) {
    to = std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(j * columns), columns, to);
  }
}

// sum_j f_j over one of the stretches.
double value_of(const Evidence& evidence, const Stretch& stretch,
                std::span<const double> intensities) {
  const NegativeBinomialNotes& notes = NegativeBinomialNotes::of(evidence);
  const Stretch& counted = same_in(notes.stretches, evidence, stretch);
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
  const NegativeBinomialNotes& notes = NegativeBinomialNotes::of(evidence);
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

std::unique_ptr<BasisNotes> NegativeBinomialBlocks::notes_of(const PaddedRows& basis) const {
  Vector dispersions(basis.rows());
  for (Index m = 0; m < basis.rows(); ++m) dispersions[m] = dispersion(m);
  // Levels that drift bring dispersions of their own with each observation.
  return cell_.drifts() ? nullptr : QuietChannels::of(basis, dispersions);
}

const QuietChannels* NegativeBinomialBlocks::quiet_for(const Observation& y,
                                                       const BasisNotes* notes) const {
  constexpr std::size_t kChannelsPerListed = 4;
  constexpr double kSpread = 1.2;
  const auto* quiet = static_cast<const QuietChannels*>(notes);
  if (quiet == nullptr || !y.dispersions().empty()) return nullptr;
  const std::size_t listed = y.channels().size() + y.exposed().size() + quiet->loud().size();
  if (kChannelsPerListed * listed > static_cast<std::size_t>(y.num_channels())) return nullptr;
  // Activations are likely to expect about as many counts as there are.
  const double total = std::accumulate(y.counts().begin(), y.counts().end(), 0.0);
  const auto columns = static_cast<double>(quiet->column_sums().size());
  return quiet->limits().largest >= kSpread * total / columns ? quiet : nullptr;
}

void NegativeBinomialBlocks::look_at(const Observation& y, const PaddedRows& basis, const Vector&,
                                     Evidence& out) const {
  out.begin(*this, y, basis);
  const QuietChannels* quiet = quiet_for(y, out.basis_notes());
  if (quiet != nullptr) {
    list_few(y, basis, *quiet, *this, out);
  } else {
    list_all(y, basis, *this, out);
  }
  out.finish();
  out.mutable_notes<NegativeBinomialNotes>().take(out, *this, quiet);
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
  const NegativeBinomialNotes& notes = NegativeBinomialNotes::of(evidence);
  const auto columns = static_cast<std::size_t>(activations.cols());
  const bool lists_few = notes.quiet != nullptr;
  thread_local std::vector<double> count_rows;
  thread_local std::vector<double> whole_rows;
  gather_rows(rows, notes.positions, columns, count_rows);
  if (lists_few) gather_rows(rows, notes.whole.positions, columns, whole_rows);
  const std::span<const double> softened_rows = lists_few ? whole_rows : rows;
  const std::vector<double>& scales = lists_few ? notes.whole.scales : notes.scales;
  const std::vector<double>& weights = lists_few ? notes.whole.weights : notes.weights;
  Eigen::Map<Vector>(out.data(), activations.rows()).noalias() = -(activations * total);
  Reducer::shared_sum(
      evidence.stretches(), out, [&](const Stretch& stretch, std::span<double> sums) {
        add_softened_count_logarithms(
            activations, count_rows, notes.count_scales,
            notes.runs.runs_of(same_in(notes.stretches, evidence, stretch)), sums);
        const Stretch& softened =
            lists_few ? same_in(notes.whole.stretches, evidence, stretch) : stretch;
        const auto part = [&](std::span<const double> all, std::size_t width) {
          return all.subspan(softened.first * width, softened.size * width);
        };
        subtract_softened_logs(activations, {part(softened_rows, columns), part(scales, 1)},
                               part(weights, 1), sums);
      });
}

void NegativeBinomialBlocks::add_rest(const Evidence& evidence,
                                      const Eigen::Ref<const Matrix>& activations,
                                      std::span<double> out) const {
  const NegativeBinomialNotes& notes = NegativeBinomialNotes::of(evidence);
  if (notes.quiet == nullptr) return;
  notes.quiet->add_rest(activations, out);
  for (const Index m : notes.excepted) {
    const Eigen::Map<const Vector> row(evidence.basis().row(m), activations.cols());
    for (Index i = 0; i < activations.rows(); ++i) {
      out[static_cast<std::size_t>(i)] -= rest_of(activations.row(i).dot(row), dispersion(m));
    }
  }
}

double NegativeBinomialBlocks::value(const Evidence& evidence,
                                     std::span<const double> intensities) const {
  return Reducer::sum(evidence.stretches(), [&](const Stretch& stretch) {
    return value_of(evidence, stretch, intensities);
  });
}

void NegativeBinomialBlocks::forces(const Evidence& evidence, std::span<const double> intensities,
                                    Forces& out) const {
  const NegativeBinomialNotes& notes = NegativeBinomialNotes::of(evidence);
  resize(intensities.size(), out);
  for (std::size_t j = 0; j < intensities.size(); ++j) {
    const double count = evidence.counts()[j];
    out.gains[j] = count > 0 && intensities[j] > 0 ? count / intensities[j] : 0;
    out.losses[j] = notes.factors[j] / (1 + notes.scales[j] * intensities[j]);
    out.curvatures[j] = curvature_of(evidence, notes, j, intensities[j]);
  }
}

// Gains of the channels that have counts, losses of all that are listed.
bool NegativeBinomialBlocks::climb(const Evidence& evidence, const PaddedRows& basis,
                                   std::span<const double> x, PointForces& out) const {
  const NegativeBinomialNotes& notes = NegativeBinomialNotes::of(evidence);
  const auto stride = static_cast<std::size_t>(basis.stride());
  resize(evidence.channels().size(), out);
  thread_local std::vector<double> gains;  // of the channels with counts
  gains.resize(notes.counts.size());
  // Both slopes, and one number more: the channels of zero intensity, which no rank sees alone.
  thread_local std::vector<double> sums;
  sums.assign(2 * stride + 1, 0);
  Reducer::shared_sum(evidence.stretches(), sums, [&](const Stretch& s, std::span<double> to) {
    const Stretch& counted = same_in(notes.stretches, evidence, s);
    const std::span<double> own = std::span(gains).subspan(counted.first, counted.size);
    poisson_slopes(basis, std::span(notes.channels).subspan(counted.first, counted.size),
                   std::span(notes.counts).subspan(counted.first, counted.size), x, own,
                   to.first(stride));
    softened_slopes(basis, evidence.channels().subspan(s.first, s.size),
                    std::span(notes.factors).subspan(s.first, s.size),
                    std::span(notes.scales).subspan(s.first, s.size), x,
                    std::span(out.losses).subspan(s.first, s.size), to.subspan(stride, stride));
    to[2 * stride] += static_cast<double>(std::ranges::count(own, 0.0));
  });
  const auto slopes = sums.begin();
  const auto width = static_cast<std::ptrdiff_t>(stride);
  out.gain_slopes.assign(slopes, slopes + width);
  out.loss_slopes.assign(slopes + width, slopes + 2 * width);
  const bool explains = sums[2 * stride] == 0;
  std::ranges::fill(out.gains, 0.0);
  for (std::size_t i = 0; i < gains.size(); ++i) out.gains[notes.positions[i]] = gains[i];
  thread_local std::vector<double> rest_slopes;
  rest_slopes.assign(stride, 0);
  rest_at(evidence, *this, x, rest_slopes);
  for (std::size_t k = 0; k < stride; ++k) out.loss_slopes[k] -= rest_slopes[k];
  return explains;
}

double NegativeBinomialBlocks::settle(const Evidence& evidence, const PaddedRows& basis,
                                      std::span<const double> x, PointForces& out) const {
  const NegativeBinomialNotes& notes = NegativeBinomialNotes::of(evidence);
  thread_local std::vector<double> intensities;
  intensities.resize(evidence.channels().size());
  gather_gains(evidence, out.gains);
  double sum = 0;
  Reducer::shared_sum(evidence.stretches(), {&sum, 1}, [&](const Stretch& s, std::span<double> to) {
    for (std::size_t j = s.first; j < s.first + s.size; ++j) {
      intensities[j] = intensity_at(basis, evidence.channels()[j], x);
      out.curvatures[j] = curvature_of(evidence, notes, j, intensities[j]);
    }
    to[0] += value_of(evidence, s, intensities);
  });
  thread_local std::vector<double> rest_slopes;
  rest_slopes.assign(static_cast<std::size_t>(basis.stride()), 0);
  return sum + rest_at(evidence, *this, x, rest_slopes);
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
                            negative_binomial::dispersion_information(mean, phi, limit(channel)) +
                                negative_binomial::asked_information(count, mean, phi),
                            out.subspan(static_cast<std::size_t>(channel) * kSize, kSize));
}

void NegativeBinomialBlocks::information(Index channel, std::span<const double> intensities,
                                         std::span<double> out) const {
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = cell_.information(channel, intensities[i]);
}

}  // namespace headwater
