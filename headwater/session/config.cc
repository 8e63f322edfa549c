#include "headwater/config.hpp"

#include <fmt/format.h>

#include "headwater/any_law.hpp"
#include "headwater/core/duration.hpp"
#include "headwater/error.hpp"
#include "headwater/law_table.hpp"
#include "headwater/season.hpp"
#include "headwater/session/options.hpp"

namespace headwater {

std::string Period::text() const {
  if (is_auto()) return "auto";
  return steps > 0 ? fmt::format("{}", steps) : duration_text(seconds);
}

Period Period::parse(const std::string& text) {
  if (text == "auto") return {};
  Period period;
  if (const auto steps = parse_number<Index>(text)) {
    period.steps = *steps;
    if (period.steps >= 2 && period.steps <= kLongestPeriod) return period;
  } else if (const std::optional<double> seconds = seconds_of_duration(text)) {
    period.seconds = *seconds;
    if (period.seconds > 0) return period;
  }
  throw UsageError(fmt::format(
      "period is {}; expected a number of observations from 2 to {}, a duration such as 24h or 7d, "
      "or auto",
      text, kLongestPeriod));
}

void Config::validate() const {
  check_values(config_options(), *this);
  const bool is_as_printed = smoother == SmootherKind::kAuto || smoother == SmootherKind::kPath ||
                             smoother == SmootherKind::kForward;
  if (paper_exact && !is_as_printed) {
    throw UsageError(
        fmt::format("paper-exact carries the statistics forward; it cannot go with smoother {}",
                    to_string(smoother)));
  }
  if (paper_exact && counts.law != CountsConfig::kAuto && counts.law != AnyLaw()->name()) {
    throw UsageError(fmt::format("paper-exact has counts {}; it cannot go with counts {}",
                                 AnyLaw()->name(), counts.law));
  }
  if (counts.law == AnyLaw()->name() || paper_exact) {
    const auto refuse = [](const std::string& name) {
      throw UsageError(fmt::format("counts {} has no parameter '{}'", AnyLaw()->name(), name));
    };
    for (const Parameter& parameter : counts.parameters) refuse(parameter.name);
    for (const std::string& name : m_step.held_parameters) {
      if (is_law_parameter(name)) refuse(name);
    }
  }
  if (!season.periods.empty()) {
    const bool is_carried = smoother == SmootherKind::kForward || smoother == SmootherKind::kPath;
    if (paper_exact || is_carried) {
      throw UsageError(
          fmt::format("a period cannot go with {}; use smoother lag or paris",
                      paper_exact ? "paper-exact" : "smoother " + to_string(smoother)));
    }
  }
  if (round > 0 && (paper_exact || method == Method::kBatch)) {
    throw UsageError(fmt::format("round cannot go with {}",
                                 paper_exact
                                     ? "paper-exact, which makes an M-step at each observation"
                                     : "method batch, which takes all sequences at once"));
  }
  if (prior.name == PriorConfig::kAuto) {
    const char* const without = paper_exact                ? "paper-exact"
                                : initial_basis.size() > 0 ? "a starting basis"
                                : init == Init::kRandom    ? "init random"
                                                           : nullptr;
    if (without != nullptr) {
      throw UsageError(
          fmt::format("prior auto needs the search for a start, which {} leaves out", without));
    }
  }
  if (m_step.hold_basis && initial_basis.size() == 0) {
    throw UsageError("hold basis needs a basis to hold; give one with init");
  }
  if (!(m_step.transition_floor >= 0 && m_step.transition_floor < 0.5)) {
    throw UsageError(fmt::format("transition-floor is {}; expected a number in [0, 0.5)",
                                 m_step.transition_floor));
  }
}

// Batch EM climbs a likelihood, in which nothing would keep gains of channels from following noise.
// The gains are learned along one stream; those of sequences apart could not be put together.
bool Config::learns_channel_profiles() const {
  return !season.periods.empty() && method == Method::kOnline && round == 0 &&
         !m_step.holds(kProfile) && !m_step.holds(kChannelProfile);
}

bool Config::averages() const {
  return average == Average::kAuto ? step_size.is_decreasing() : average == Average::kPolyak;
}

MStepOptions Config::effective_m_step() const {
  MStepOptions options = m_step;
  if (paper_exact) options.drop_weak_priors();
  return options;
}

std::vector<std::pair<std::string, std::string>> describe(const Config& config, Recorded recorded) {
  Config effective = config;
  effective.m_step = config.effective_m_step();
  if (config.paper_exact) {
    if (config.counts.law == CountsConfig::kAuto) effective.counts.law = AnyLaw()->name();
    effective.outliers = Outliers::kKeep;
  }
  effective.average = config.averages() ? Average::kPolyak : Average::kNone;
  return texts_of(config_options(), effective, recorded);
}

}  // namespace headwater
