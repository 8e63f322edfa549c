#include "headwater/learning/m_step_slope.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "headwater/learning/estimate.hpp"
#include "headwater/learning/estimate_layout.hpp"

namespace headwater {

namespace {

// Relative to the point.
constexpr double kStep = 1e-4;

// Calls visit(period, phase, counts, expected) with what a direction, which is of sums an
// observation, means for the averages over the visits of each phase.
template <class Visit>
void for_each_phase(const std::vector<PhaseSums>& phases, const Vector& direction,
                    const Visit& visit) {
  Index at = 0;
  for (std::size_t p = 0; p < phases.size() && direction.size() > 0; ++p) {
    const PhaseSums& sums = phases[p];
    const Index components = sums.counts.rows();
    const double all = sums.visits.sum();
    for (Index h = 0; h < sums.visits.size(); ++h) {
      if (!(sums.visits[h] > 0)) continue;
      const double part = sums.visits[h] / all;
      const Index place = at + h * components;
      visit(p, h, Vector(direction.segment(place, components) / part),
            Vector(direction.segment(place + sums.counts.size(), components) / part));
    }
    at += 2 * sums.counts.size();
  }
}

}  // namespace

MStepSlope::MStepSlope(const MStep& m_step, const Estimate& from, const Statistics& at)
    : m_step_(m_step), from_(from), at_(at), moved_(at) {
  for (const std::span<const double> part : at.sums()) {
    flat_.conservativeResize(flat_.size() + static_cast<Index>(part.size()));
    flat_.tail(static_cast<Index>(part.size())) =
        Eigen::Map<const Vector>(part.data(), static_cast<Index>(part.size()));
  }
}

Vector MStepSlope::along(const Vector& direction, const Vector& of_phases) const {
  const double length =
      std::max({1.0, relative_length(direction), relative_length_of_phases(of_phases)});
  const double step = kStep / length;
  return (after(direction, of_phases, step) - after(direction, of_phases, -step)) / (2 * step);
}

double MStepSlope::relative_length(const Vector& direction) const {
  const Index ratios = at_.s1.size() + at_.s2.size();
  double length = 0;
  for (Index i = 0; i < ratios; ++i) {
    if (flat_[i] > 0) length = std::max(length, std::abs(direction[i]) / flat_[i]);
  }
  Index begin = ratios;
  for (const Index size : {at_.s3.size(), at_.s4.size(), at_.unseen.size()}) {
    if (size > 0) {
      const double scale = flat_.segment(begin, size).cwiseAbs().maxCoeff();
      const double most = direction.segment(begin, size).cwiseAbs().maxCoeff();
      if (scale > 0) length = std::max(length, most / scale);
    }
    begin += size;
  }
  return length;
}

double MStepSlope::relative_length_of_phases(const Vector& direction) const {
  double length = 0;
  for_each_phase(at_.phases, direction, [&](std::size_t p, Index h, auto counts, auto expected) {
    const PhaseSums& sums = at_.phases[p];
    for (Index k = 0; k < counts.size(); ++k) {
      if (sums.expected(k, h) > 0) {
        length = std::max(length, std::abs(expected[k]) / sums.expected(k, h));
      }
      if (sums.counts(k, h) > 0) {
        length = std::max(length, std::abs(counts[k]) / sums.counts(k, h));
      }
    }
  });
  return length;
}

Vector MStepSlope::after(const Vector& direction, const Vector& of_phases, double step) const {
  moved_.set_sums(flat_ + step * direction);
  moved_.phases = at_.phases;
  for_each_phase(at_.phases, of_phases, [&](std::size_t p, Index h, auto counts, auto expected) {
    moved_.phases[p].counts.col(h) += step * counts;
    moved_.phases[p].expected.col(h) += step * expected;
  });
  Estimate estimate = from_;
  m_step_.update_basis(moved_, estimate.basis);
  m_step_.update_law(moved_, estimate.law);
  m_step_.update_prior(moved_, estimate.prior);
  for (std::size_t p = 0; p < estimate.season.profiles().size(); ++p) {
    // Each given the others: a fixed point is one of all of them.
    Season season = from_.season;
    m_step_.update_season(moved_, static_cast<std::int64_t>(p), season);
    estimate.season.set_profile(p, season.profiles()[p]);
  }
  return numbers_of(with_unit_scale(std::move(estimate)));
}

}  // namespace headwater
