#include "headwater/emission/hurdle_blocks.hpp"

#include <algorithm>
#include <cmath>

#include "headwater/emission/hurdle_states.hpp"
#include "headwater/emission/hurdle_sums.hpp"
#include "headwater/emission/hurdle_terms.hpp"
#include "headwater/emission/negative_binomial_terms.hpp"
#include "headwater/kernels/elementary.hpp"
#include "headwater/kernels/negative_binomial.hpp"
#include "headwater/kernels/poisson_slopes.hpp"

namespace headwater {

namespace {

// The listed channels of an observation: those without a count, as the kernels want them, and the
// others.
class HurdleNotes final : public LawNotes {
 public:
  std::unique_ptr<LawNotes> clone() const override { return std::make_unique<HurdleNotes>(*this); }

  struct Listed {
    std::vector<std::size_t> positions;  // in the list
    std::vector<Index> channels;
    std::vector<double> exposures;
    std::vector<double> dispersions;
    std::vector<double> scales;   // dispersion times exposure
    std::vector<double> weights;  // one over the dispersion
    std::vector<Stretch> stretches;

    void clear() {
      positions.clear();
      channels.clear();
      stretches.clear();
      for (auto* list : {&exposures, &dispersions, &scales, &weights}) list->clear();
    }
    void add(std::size_t position, Index channel, double exposure, double dispersion) {
      positions.push_back(position);
      channels.push_back(channel);
      exposures.push_back(exposure);
      dispersions.push_back(dispersion);
      scales.push_back(dispersion * exposure);
      weights.push_back(dispersion > 0 ? 1 / dispersion : 0);
    }
    void end_stretch(Index block) {
      const std::size_t first =
          stretches.empty() ? 0 : stretches.back().first + stretches.back().size;
      stretches.push_back({first, positions.size() - first, block});
    }
  };
  Listed silent;
  Listed present;
};

const HurdleNotes& hurdle_notes(const Evidence& evidence) {
  return static_cast<const HurdleNotes&>(evidence.notes());
}

void note_listed(const Evidence& evidence, const HurdleBlocks& law, HurdleNotes& notes) {
  notes.silent.clear();
  notes.present.clear();
  for (const Stretch& stretch : evidence.stretches()) {
    for (std::size_t j = stretch.first; j < stretch.first + stretch.size; ++j) {
      const Index m = evidence.channels()[j];
      (evidence.counts()[j] > 0 ? notes.present : notes.silent)
          .add(j, m, evidence.exposures().empty() ? 1 : evidence.exposures()[j],
               law.dispersion(evidence.observation(), m));
    }
    notes.silent.end_stretch(stretch.block);
    notes.present.end_stretch(stretch.block);
  }
}

double dot_with(const PaddedRows& basis, Index channel, std::span<const double> x) {
  const auto size = static_cast<Index>(x.size());
  return Eigen::Map<const Vector>(basis.row(channel), size)
      .dot(Eigen::Map<const Vector>(x.data(), size));
}

// f of a listed channel with a count: see the class. What is linear is in the total if there is no
// dispersion.
double present_term(double mean, double phi) {
  return hurdle::log_presence(mean, phi) + (phi == 0 ? mean : 0);
}

CellForces hurdle_forces(bool is_present, double exposure, double phi, double intensity) {
  const double mean = exposure * intensity;
  if (!is_present) return {0, exposure * hurdle::level_if_silent(mean, phi)};
  return {mean > 0 ? exposure / hurdle::presence(mean, phi) : 0,
          exposure * hurdle::level_if_present(mean, phi)};
}

// Without dispersion -f'' itself: exposure^2 s / (1 - s)^2. Otherwise the expected one.
double hurdle_curvature(bool is_present, double exposure, double phi, double intensity) {
  const double mean = exposure * intensity;
  const double expected = exposure * exposure * hurdle::information(mean, phi);
  return is_present && phi == 0 && mean > 0 ? expected / hurdle::presence(mean, 0) : expected;
}

}  // namespace

std::unique_ptr<BlockLaw> Hurdle::in_blocks() const {
  return std::make_unique<HurdleBlocks>(*this);
}

void log_silences(const Eigen::Ref<const Matrix>& activations, std::span<const double> row,
                  double exposure, double dispersion, std::span<double> out) {
  Eigen::Map<Vector> silences(out.data(), static_cast<Index>(out.size()));
  if (dispersion == 0) {
    const Eigen::Map<const Vector> entries(row.data(), static_cast<Index>(row.size()));
    silences.noalias() = -exposure * (activations * entries);
    return;
  }
  silences.setZero();
  const double scale = dispersion * exposure;
  const double weight = 1 / dispersion;
  subtract_softened_logs(activations, {row, {&scale, 1}}, {&weight, 1}, out);
}

void HurdleBlocks::look_at(const Observation& y, const PaddedRows& basis, const Vector& column_sums,
                           Evidence& out) const {
  out.begin(*this, y, basis);
  Vector& total = out.mutable_total();
  const bool has_exposures = !y.exposed().empty();
  const auto row_of = [&](Index m) { return Eigen::Map<const Vector>(basis.row(m), basis.cols()); };
  const auto list = [&](Index m, double count, double exposure) {
    if (has_exposures) {
      out.list(m, count, exposure);
    } else {
      out.list(m, count);
    }
  };
  if (has_plain_losses()) {
    total = column_sums;
    for (std::size_t j = 0; j < y.exposed().size(); ++j) {
      total -= (1 - y.exposures()[j]) * row_of(y.exposed()[j]);
    }
    for_each_count(
        y, [&](std::size_t j, double exposure) { list(y.channels()[j], y.counts()[j], exposure); });
  } else {
    total.setZero(basis.cols());
    for_each_seen(y, [&](Index m, double count, double exposure) {
      const bool is_linear = dispersion(y, m) == 0;
      if (is_linear) total += exposure * row_of(m);
      if (!is_linear || count > 0) list(m, count, exposure);
    });
  }
  out.finish();
  note_listed(out, *this, out.mutable_notes<HurdleNotes>());
}

double HurdleBlocks::log_base_measure(const Observation& y) const {
  double sum = 0;
  for (std::size_t j = 0; j < y.channels().size(); ++j) {
    sum += hurdle::log_beyond(y.counts()[j], cell_.excess(y.channels()[j]));
  }
  return sum;
}

void HurdleBlocks::log_likelihoods(const Evidence& evidence,
                                   const Eigen::Ref<const Matrix>& activations,
                                   std::span<const double> rows, const Vector& total,
                                   std::span<double> out) const {
  const HurdleNotes& notes = hurdle_notes(evidence);
  const auto columns = static_cast<std::size_t>(activations.cols());
  const auto row_at = [&](std::size_t position) {
    return rows.subspan(position * columns, columns);
  };
  thread_local std::vector<double> silent_rows;
  thread_local std::vector<double> silences;
  thread_local std::vector<double> logarithms;
  silences.resize(out.size());
  logarithms.resize(out.size());
  Eigen::Map<Vector>(out.data(), activations.rows()).noalias() = -(activations * total);
  Reducer::shared_sum(evidence.stretches(), out, [&](const Stretch& s, std::span<double> sums) {
    const auto at = static_cast<std::size_t>(&s - evidence.stretches().data());
    const Stretch silent = notes.silent.stretches[at];
    const Stretch present = notes.present.stretches[at];
    silent_rows.clear();
    for (std::size_t i = silent.first; i < silent.first + silent.size; ++i) {
      const auto row = row_at(notes.silent.positions[i]);
      silent_rows.insert(silent_rows.end(), row.begin(), row.end());
    }
    subtract_softened_logs(
        activations,
        {silent_rows, std::span(notes.silent.scales).subspan(silent.first, silent.size)},
        std::span(notes.silent.weights).subspan(silent.first, silent.size), sums);
    for (std::size_t i = present.first; i < present.first + present.size; ++i) {
      const double phi = notes.present.dispersions[i];
      log_silences(activations, row_at(notes.present.positions[i]), notes.present.exposures[i], phi,
                   silences);
      vector_one_minus_exp(silences, logarithms);
      vector_log(logarithms, logarithms);
      for (std::size_t n = 0; n < sums.size(); ++n) {
        sums[n] += phi == 0 ? logarithms[n] - silences[n] : logarithms[n];
      }
    }
  });
}

double HurdleBlocks::value(const Evidence& evidence, std::span<const double> intensities) const {
  const HurdleNotes& notes = hurdle_notes(evidence);
  return Reducer::sum(evidence.stretches(), [&](const Stretch& stretch) {
    const auto at = static_cast<std::size_t>(&stretch - evidence.stretches().data());
    const Stretch silent = notes.silent.stretches[at];
    const Stretch present = notes.present.stretches[at];
    double sum = 0;
    for (std::size_t i = silent.first; i < silent.first + silent.size; ++i) {
      const double intensity = intensities[notes.silent.positions[i]];
      sum -= notes.silent.weights[i] * std::log1p(notes.silent.scales[i] * intensity);
    }
    for (std::size_t i = present.first; i < present.first + present.size; ++i) {
      const double intensity = intensities[notes.present.positions[i]];
      sum += present_term(notes.present.exposures[i] * intensity, notes.present.dispersions[i]);
    }
    return sum;
  });
}

void HurdleBlocks::forces(const Evidence& evidence, std::span<const double> intensities,
                          Forces& out) const {
  const HurdleNotes& notes = hurdle_notes(evidence);
  const bool has_losses = !has_plain_losses();
  out.gains.resize(intensities.size());
  out.curvatures.resize(intensities.size());
  out.losses.assign(has_losses ? intensities.size() : 0, 0);
  for (const auto* listed : {&notes.silent, &notes.present}) {
    const bool is_present = listed == &notes.present;
    for (std::size_t i = 0; i < listed->positions.size(); ++i) {
      const std::size_t j = listed->positions[i];
      const double phi = listed->dispersions[i];
      const CellForces cell = hurdle_forces(is_present, listed->exposures[i], phi, intensities[j]);
      out.gains[j] = cell.gain;
      out.curvatures[j] = hurdle_curvature(is_present, listed->exposures[i], phi, intensities[j]);
      if (phi > 0) out.losses[j] = cell.loss;  // or else it is in the total
    }
  }
}

bool HurdleBlocks::climb(const Evidence& evidence, const PaddedRows& basis,
                         std::span<const double> x, PointForces& out) const {
  const HurdleNotes& notes = hurdle_notes(evidence);
  const auto stride = static_cast<std::size_t>(basis.stride());
  const std::size_t size = evidence.channels().size();
  const bool has_losses = !has_plain_losses();
  out.gains.assign(size, 0);
  out.curvatures.resize(size);
  out.losses.assign(has_losses ? size : 0, 0);
  out.gain_slopes.assign(stride, 0);
  out.loss_slopes.assign(has_losses ? stride : 0, 0);
  bool explains = true;
  for (std::size_t i = 0; i < notes.present.positions.size(); ++i) {
    const double intensity = dot_with(basis, notes.present.channels[i], x);
    const double phi = notes.present.dispersions[i];
    const CellForces cell = hurdle_forces(true, notes.present.exposures[i], phi, intensity);
    explains &= intensity > 0;
    out.gains[notes.present.positions[i]] = cell.gain;
    if (phi > 0) out.losses[notes.present.positions[i]] = cell.loss;
  }
  const auto add_present = [&](const Stretch& stretch, const std::vector<double>& forces,
                               std::span<double> to) {
    for (std::size_t i = stretch.first; i < stretch.first + stretch.size; ++i) {
      const double* row = basis.row(notes.present.channels[i]);
      const double force = forces[notes.present.positions[i]];
      for (std::size_t k = 0; k < to.size(); ++k) to[k] += force * row[k];
    }
  };
  Reducer::sum(notes.present.stretches, out.gain_slopes,
               [&](const Stretch& s, std::span<double> to) { add_present(s, out.gains, to); });
  if (!has_losses) return explains;
  thread_local std::vector<double> silent_losses;
  silent_losses.resize(notes.silent.positions.size());
  Reducer::sum(
      notes.silent.stretches, out.loss_slopes, [&](const Stretch& s, std::span<double> to) {
        const auto part = [&](auto& all) { return std::span(all).subspan(s.first, s.size); };
        softened_slopes(basis, part(notes.silent.channels), part(notes.silent.exposures),
                        part(notes.silent.scales), x, part(silent_losses), to);
      });
  for (std::size_t i = 0; i < silent_losses.size(); ++i) {
    out.losses[notes.silent.positions[i]] = silent_losses[i];
  }
  Reducer::sum(notes.present.stretches, out.loss_slopes,
               [&](const Stretch& s, std::span<double> to) { add_present(s, out.losses, to); });
  return explains;
}

double HurdleBlocks::settle(const Evidence& evidence, const PaddedRows& basis,
                            std::span<const double> x, PointForces& out) const {
  const HurdleNotes& notes = hurdle_notes(evidence);
  thread_local std::vector<double> intensities;
  intensities.resize(evidence.channels().size());
  for (const auto* listed : {&notes.silent, &notes.present}) {
    for (std::size_t i = 0; i < listed->positions.size(); ++i) {
      const std::size_t j = listed->positions[i];
      intensities[j] = dot_with(basis, listed->channels[i], x);
      out.curvatures[j] = hurdle_curvature(listed == &notes.present, listed->exposures[i],
                                           listed->dispersions[i], intensities[j]);
    }
  }
  return value(evidence, intensities);
}

CellForces HurdleBlocks::cell_forces(Index channel, double count, double exposure,
                                     double intensity) const {
  return hurdle_forces(count > 0, exposure, cell_.dispersion(channel), intensity);
}

CellForces HurdleBlocks::forces_in(const Observation& y, Index channel, double count,
                                   double exposure, double intensity) const {
  return hurdle_forces(count > 0, exposure, dispersion(y, channel), intensity);
}

std::unique_ptr<StateLikelihoods> HurdleBlocks::state_likelihoods(Matrix states) const {
  // Tables are of no use where dispersions change from one observation to the next.
  if (cell_.drifts()) return BlockLaw::state_likelihoods(std::move(states));
  return std::make_unique<HurdleStateLikelihoods>(std::move(states));
}

std::unique_ptr<EmissionSums> HurdleBlocks::sums() const { return std::make_unique<HurdleSums>(); }

void HurdleBlocks::information(Index channel, std::span<const double> intensities,
                               std::span<double> out) const {
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = cell_.information(channel, intensities[i]);
}

}  // namespace headwater
