#include "headwater/session/own_rows.hpp"

#include <fmt/format.h>

#include "headwater/law_table.hpp"
#include "headwater/registry.hpp"
#include "headwater/session/choices.hpp"
#include "headwater/session/engine_table.hpp"

namespace headwater {

namespace {

std::string of_particles(const Config& config) {
  const SmootherKind smoother = config.smoother;
  if (config.engine.proposal != ProposalKind::kPrior) {
    return fmt::format("--proposal {}", to_string(config.engine.proposal));
  }
  if (smoother == SmootherKind::kAuto || smoother == SmootherKind::kLag) return "";
  return fmt::format("--smoother {}", to_string(smoother));
}

}  // namespace

std::string needs_all_rows(const Config& config, Index num_channels) {
  if (config.method == Method::kBatch) return "--method batch";
  if (config.paper_exact) return "--paper-exact";
  if (config.init == Init::kAuto && config.initial_basis.size() == 0) return "--init auto";
  if (config.counts.law != AnyLaw()->name()) return "--counts " + config.counts.law;
  if (config.background) return "--background";
  if (!config.season.periods.empty()) return "--period";
  if (config.standard_errors) return "--standard-errors";
  if (config.round > 0) return "--round";
  const std::vector<AnyPrior> priors = make_priors(config.num_components, config.prior);
  // Without a scale, EM's steps are lengthened by what all channels say.
  if (priors.size() > 1 || !priors.front().has_scale()) return "--prior " + config.prior.name;
  const EngineKind engine = choose_engine(config, priors.front(), num_channels).kind;
  if (engine == EngineKind::kParticle) return of_particles(config);
  return engine == EngineKind::kFast ? "" : fmt::format("--engine {}", to_string(engine));
}

}  // namespace headwater
