#include "headwater/learning/m_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headwater/core/error.hpp"

namespace headwater {

namespace {

// A difference s1 - unseen of this relative size is rounding, not evidence.
constexpr double kNegligible = 1e-13;

void check(bool ok, const char* name, double value, const char* expected) {
  if (!ok) throw UsageError(fmt::format("{} is {}; expected {}", name, value, expected));
}

}  // namespace

bool MStepOptions::holds(std::string_view parameter) const {
  return std::ranges::find(held_parameters, parameter) != held_parameters.end();
}

void MStepOptions::validate() const {
  check(std::isfinite(basis_shape) && basis_shape >= 1, "basis-shape", basis_shape, "1 or more");
  check(std::isfinite(basis_rate) && basis_rate >= 0, "basis-rate", basis_rate, "0 or more");
  check(basis_floor >= 0 && basis_floor < 1, "basis-floor", basis_floor, "a number in [0, 1)");
  check(std::isfinite(transition_weight) && transition_weight >= 0, "transition-weight",
        transition_weight, "0 or more");
}

void MStepOptions::drop_weak_priors() {
  basis_shape = 1;
  basis_rate = 0;
  basis_floor = 0;
  transition_weight = 0;
}

void update_basis(const Statistics& statistics, const MStepOptions& options, Matrix& basis) {
  if (options.hold_basis) return;
  const double count = statistics.effective_count();
  const double extra_counts = (options.basis_shape - 1) / count;
  const double mean = basis.mean();
  const double extra_exposure = mean > 0 ? options.basis_rate / (mean * count) : 0;
  for (Index k = 0; k < basis.cols(); ++k) {
    const double negligible = kNegligible * statistics.s1[k];
    for (Index m = 0; m < basis.rows(); ++m) {
      const double exposure = statistics.exposure(m, k);
      if (exposure > negligible) {
        basis(m, k) = (statistics.s2(m, k) + extra_counts) / (exposure + extra_exposure);
      }
    }
  }
  if (options.basis_floor > 0) {
    const double floor = options.basis_floor * basis.mean();
    basis = basis.cwiseMax(floor);
  }
}

void update_prior(const Statistics& statistics, const MStepOptions& options, AnyPrior& prior) {
  if (!learns_prior(options, prior)) return;
  Vector moves = statistics.s3;
  if (options.transition_weight > 0 && prior.is_finite()) {
    const double extra = options.transition_weight / statistics.effective_count();
    Index at = 0;
    for (const FiniteAxis& axis : prior.finite_chain().axes) {
      for (Index i = 0; i < axis.size(); ++i) {
        // A state that was certainly never visited says nothing about what follows it.
        auto row = moves.segment(at, axis.size());
        at += axis.size();
        if (row.sum() == 0) continue;
        for (Index j = 0; j < axis.size(); ++j) {
          if (axis.transition(i, j) > 0) row[j] += extra;
        }
      }
    }
  }
  const Parameters before = prior.parameters();
  prior.maximise(as_span(moves));
  for (const Parameter& parameter : before) {
    if (options.holds(parameter.name)) prior.set_parameter(parameter);
  }
}

bool learns_prior(const MStepOptions& options, const AnyPrior& prior) {
  const Parameters parameters = prior.parameters();
  return std::ranges::any_of(
      parameters, [&](const Parameter& parameter) { return !options.holds(parameter.name); });
}

}  // namespace headwater
