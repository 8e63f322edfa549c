#include "headwater/session/config.hpp"

#include <fmt/format.h>

#include "headwater/core/error.hpp"

namespace headwater {

namespace {

template <class Number>
void check_at_least(const char* name, Number value, Number smallest) {
  if (value < smallest) {
    throw UsageError(fmt::format("{} is {}; expected {} or more", name, value, smallest));
  }
}

const char* yes_or_no(bool value) { return value ? "yes" : "no"; }

std::string join(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ","));
}

}  // namespace

std::string to_string(Method method) { return method == Method::kOnline ? "online" : "batch"; }

void Config::validate() const {
  check_at_least<Index>("components", num_components, 1);
  check_at_least<Index>("lag", lag, 0);
  check_at_least<Index>("block", block, 0);
  check_at_least<std::int64_t>("burn-in", burn_in, 0);
  check_at_least<std::int64_t>("iterations", iterations, 1);
  check_at_least<std::int64_t>("trace-every", trace_every, 0);
  if (!(tolerance >= 0 && tolerance < 1)) {
    throw UsageError(fmt::format("tolerance is {}; expected a number in [0, 1)", tolerance));
  }
  if (!(window_tolerance > 0 && window_tolerance < 1)) {
    throw UsageError(
        fmt::format("window-tolerance is {}; expected a number inside (0, 1)", window_tolerance));
  }
  check_at_least<Index>("backward-draws", backward_draws, 1);
  const bool is_as_printed = smoother == SmootherKind::kAuto || smoother == SmootherKind::kPath ||
                             smoother == SmootherKind::kForward;
  if (paper_exact && !is_as_printed) {
    throw UsageError(
        fmt::format("paper-exact carries the statistics forward; it cannot go with smoother {}",
                    to_string(smoother)));
  }
  engine.validate();
  m_step.validate();
}

bool Config::averages() const {
  return average == Average::kAuto ? step_size.is_decreasing() : average == Average::kPolyak;
}

MStepOptions Config::effective_m_step() const {
  MStepOptions options = m_step;
  if (paper_exact) options.drop_weak_priors();
  return options;
}

std::vector<std::pair<std::string, std::string>> describe(const Config& config) {
  const MStepOptions m_step = config.effective_m_step();
  std::vector<std::string> held = m_step.held_parameters;
  if (m_step.hold_basis) held.emplace_back("basis");
  std::vector<std::pair<std::string, std::string>> options = {
      {"init", config.initial_basis.size() > 0 ? "given"
               : config.init == Init::kAuto    ? "auto"
                                               : "random"},
      {"per-component", yes_or_no(config.prior.per_component)},
      {"hold", join(held)},
      {"background", yes_or_no(config.background)},
      {"method", to_string(config.method)},
      {"engine", to_string(config.engine.kind)},
      {"proposal", to_string(config.engine.proposal)},
      {"particles", fmt::format("{}", config.engine.num_particles)},
      {"beam-width", fmt::format("{}", config.engine.beam_width)},
      {"resampling", to_string(config.engine.resampling)},
      {"resample-below", fmt::format("{}", config.engine.resample_below)},
      {"backward", to_string(config.backward)},
      {"backward-draws", fmt::format("{}", config.backward_draws)},
      {"smoother", to_string(config.smoother)},
      {"lag", fmt::format("{}", config.lag)},
      {"window-tolerance", fmt::format("{}", config.window_tolerance)},
      {"block", fmt::format("{}", config.block)},
      {"paper-exact", yes_or_no(config.paper_exact)},
      {"scale-in", m_step.scale == Scale::kAuto    ? "auto"
                   : m_step.scale == Scale::kPlain ? "basis"
                                                   : "prior"},
      {"step", config.step_size.text()},
      {"burn-in", fmt::format("{}", config.burn_in)},
      {"average", config.averages() ? "polyak" : "none"},
      {"iterations", fmt::format("{}", config.iterations)},
      {"tolerance", fmt::format("{}", config.tolerance)},
      {"basis-shape", fmt::format("{}", m_step.basis_shape)},
      {"basis-rate", fmt::format("{}", m_step.basis_rate)},
      {"basis-floor", fmt::format("{}", m_step.basis_floor)},
      {"transition-weight", fmt::format("{}", m_step.transition_weight)},
  };
  return options;
}

}  // namespace headwater
