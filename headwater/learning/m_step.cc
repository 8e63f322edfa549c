#include "headwater/learning/m_step.hpp"

#include <algorithm>
#include <cmath>

#include "headwater/learning/profile.hpp"
#include "headwater/parallel/ranks.hpp"
#include "headwater/reducer.hpp"

namespace headwater {

namespace {

// A difference s1 - unseen of this relative size is rounding, not evidence.
constexpr double kNegligible = 1e-13;

// Mean entry of each channel; of all channels for one without any; one if the basis is zero.
Vector channel_scales(const Matrix& basis) {
  const double sum = column_sums(basis).sum();
  const auto size = static_cast<double>(num_channels_of(basis.rows()) * basis.cols());
  const double overall = sum > 0 ? sum / size : 1;
  Vector scales = basis.rowwise().mean();
  for (double& scale : scales) {
    if (!(scale > 0)) scale = overall;
  }
  return scales;
}

bool learns_parameters(const MStepOptions& options, const AnyPrior& prior) {
  return std::ranges::any_of(prior.parameters(), [&](const Parameter& parameter) {
    return !options.holds(parameter.name);
  });
}

bool expands(const MStepOptions& options, const AnyPrior& prior) {
  return options.scale != Scale::kPlain && prior.has_scale() && !options.hold_basis;
}

// The moves with what the options add to those of a finite prior that are possible: so many to
// each, and up to `floor` of all out of the same state. A state that was certainly never visited
// says nothing about what follows it.
Vector with_extra_moves(Vector moves, const AnyPrior& prior, double extra, double floor) {
  Index at = 0;
  for (const FiniteAxis& axis : prior.finite_chain().axes) {
    for (Index i = 0; i < axis.size(); ++i) {
      auto row = moves.segment(at, axis.size());
      at += axis.size();
      const double sum = row.sum();
      if (sum == 0) continue;
      for (Index j = 0; j < axis.size(); ++j) {
        if (axis.transition(i, j) > 0) row[j] = std::max(row[j] + extra, floor * sum);
      }
    }
  }
  return moves;
}

}  // namespace

bool MStepOptions::holds(std::string_view parameter) const {
  return std::ranges::find(held_parameters, parameter) != held_parameters.end();
}

bool MStepOptions::has_default_basis_prior() const {
  const MStepOptions usual;
  return basis_shape == usual.basis_shape && basis_rate == usual.basis_rate;
}

void BasisExpectation::exchange(StateArchive& archive) {
  archive(counts, channels, columns);
  archive.expect(std::isfinite(counts) && counts >= 0 && channels.allFinite() &&
                     columns.allFinite() && (channels.array() > 0).all() &&
                     (columns.array() > 0).all(),
                 "an invalid expectation of the basis");
}

void MStepOptions::drop_weak_priors() {
  expectation = {};
  basis_shape = 1;
  basis_rate = 0;
  basis_floor = 0;
  transition_weight = 0;
  transition_floor = 0;
  shrink_profile = false;
  scale = Scale::kPlain;
}

bool learns_prior(const MStepOptions& options, const AnyPrior& prior) {
  return expands(options, prior) || learns_parameters(options, prior);
}

MStep::MStep(MStepOptions options, const Matrix& starting_basis, const AnyPrior& starting_prior)
    : options_(std::move(options)),
      channel_scale_(channel_scales(starting_basis)),
      is_expanded_(expands(options_, starting_prior)) {}

void MStep::exchange(StateArchive& archive) {
  archive(channel_scale_, options_.expectation);
  archive.expect((channel_scale_.array() > 0).all() && channel_scale_.allFinite(),
                 "an invalid scale of the channels");
}

void MStep::collect_rows(SharedChannels& shared) {
  Matrix scale = channel_scale_;
  shared.collect_rows(scale);
  channel_scale_ = scale.reshaped();
}

bool MStep::fits(const Matrix& basis) const {
  const BasisExpectation& expected = options_.expectation;
  return !expected.any() ||
         (expected.channels.size() == basis.rows() && expected.columns.size() == basis.cols());
}

bool MStep::learns(const AnyPrior& prior) const {
  return is_expanded_ || learns_parameters(options_, prior);
}

void MStep::update_basis(const Statistics& statistics, Matrix& basis) const {
  if (options_.hold_basis) return;
  const double count = statistics.effective_count();
  const BasisExpectation& expected = options_.expectation;
  const double extra_counts = (options_.basis_shape - 1 + expected.counts) / count;
  // Of each channel, so that the loop over its cells has one division.
  const Vector weak_exposures = options_.basis_rate / (channel_scale_.array() * count);
  Vector extra_exposures = weak_exposures;
  const Vector floors = options_.basis_floor * channel_scale_;
  const bool all_seen = statistics.unseen.size() == 0;
  for (Index k = 0; k < basis.cols(); ++k) {
    const double s1 = statistics.s1[k];
    const double negligible = kNegligible * s1;
    const auto counts = statistics.s2.col(k);
    auto column = basis.col(k);
    if (expected.any()) {
      extra_exposures = weak_exposures.array() +
                        expected.counts / (count * expected.columns[k] * expected.channels.array());
    }
    const auto update = [&](Index m, double exposure) {
      column[m] = std::max((counts[m] + extra_counts) / (exposure + extra_exposures[m]), floors[m]);
    };
    if (all_seen && s1 > negligible) {
      for (Index m = 0; m < basis.rows(); ++m) update(m, s1);
    } else if (!all_seen) {
      for (Index m = 0; m < basis.rows(); ++m) {
        const double exposure = statistics.exposure(m, k);
        if (exposure > negligible) update(m, exposure);
      }
    }
  }
}

void MStep::update_prior(const Statistics& statistics, AnyPrior& prior) const {
  if (!learns(prior)) return;
  Vector moves = statistics.s3;
  if (prior.is_finite()) {
    const double extra = options_.transition_weight / statistics.effective_count();
    moves = with_extra_moves(std::move(moves), prior, extra, options_.transition_floor);
  }
  prior.maximise(as_span(moves), {options_.held_parameters, !is_expanded_});
}

void MStep::update_law(const Statistics& statistics, AnyLaw& law) const {
  if (statistics.s4.size() == 0) return;
  const Vector mean_counts = statistics.s2.rowwise().sum();
  law.maximise(as_span(statistics.s4), statistics.effective_count(),
               {options_.held_parameters, true}, as_span(mean_counts));
}

void MStep::update_season(const Statistics& statistics, std::int64_t turn, Season& season) const {
  if (!learns(season)) return;
  const std::size_t which = static_cast<std::size_t>(turn) % season.profiles().size();
  const PhaseSums& sums = statistics.phases[which];
  season.set_profile(which, options_.shrink_profile ? shrunk_profile(sums) : plain_profile(sums));
}

double MStep::log_prior(const Matrix& basis, const AnyPrior& prior) const {
  const BasisExpectation& expected = options_.expectation;
  const double counts = options_.basis_shape - 1 + expected.counts;
  double sum = 0;
  for (Index k = 0; k < basis.cols(); ++k) {
    for (Index m = 0; m < basis.rows(); ++m) {
      if (counts > 0) sum += counts * std::log(basis(m, k));
      sum -= options_.basis_rate / channel_scale_[m] * basis(m, k);
      if (!expected.any()) continue;
      sum -= expected.counts / (expected.channels[m] * expected.columns[k]) * basis(m, k);
    }
  }
  if (options_.transition_weight > 0 && prior.is_finite()) {
    for (const FiniteAxis& axis : prior.finite_chain().axes) {
      for (const double p : axis.transition.reshaped()) {
        if (p > 0) sum += options_.transition_weight * std::log(p);
      }
    }
  }
  return sum;
}

}  // namespace headwater
