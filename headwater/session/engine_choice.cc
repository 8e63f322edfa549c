// What follows from the table of engines: which one a fit has, whether it takes the options, and
// how records are smoothed by it.
#include <fmt/format.h>

#include <algorithm>

#include "headwater/engines/drifting_engine.hpp"
#include "headwater/engines/gains_engine.hpp"
#include "headwater/error.hpp"
#include "headwater/session/engine_table.hpp"

namespace headwater {

namespace {

// From so many channels and components on, particles that move by the prior alone are spread too
// thin for what the observations say (bench_proposals).
constexpr Index kGuidedChannels = 20;
constexpr Index kGuidedComponents = 3;

bool supports(const EngineInfo& engine, const Config& config) {
  if (config.paper_exact && !engine.can_be_paper_exact) return false;
  return config.smoother == SmootherKind::kAuto ||
         std::ranges::find(engine.smoothers, config.smoother) != engine.smoothers.end();
}

std::string quoted(const std::vector<SmootherKind>& smoothers) {
  std::string names;
  for (std::size_t i = 0; i < smoothers.size(); ++i) {
    const char* before = i == 0 ? "" : i + 1 == smoothers.size() ? " and " : ", ";
    names += fmt::format("{}'{}'", before, to_string(smoothers[i]));
  }
  return names;
}

[[noreturn]] void refuse_smoother(const EngineInfo& engine, const Config& config) {
  if (config.paper_exact && !engine.can_be_paper_exact) {
    throw UsageError(fmt::format(
        "engine '{}' cannot go with paper-exact; engines 'exact' and 'particle' can", engine.name));
  }
  std::vector<std::string> others;
  for (const EngineInfo& other : engine_table()) {
    if (supports(other, config)) others.push_back(fmt::format("'{}'", other.name));
  }
  throw UsageError(fmt::format("smoother '{}' requires engine {}; engine '{}' supports {}",
                               to_string(config.smoother), fmt::join(others, " or "), engine.name,
                               quoted(engine.smoothers)));
}

}  // namespace

const EngineInfo& engine_info(EngineKind kind) {
  return *std::ranges::find(engine_table(), kind, &EngineInfo::kind);
}

EngineChoice choose_engine(const Config& config, const AnyPrior& prior, Index num_channels) {
  if (config.engine.kind != EngineKind::kAuto) {
    engine_info(config.engine.kind).check_reach(prior);
    return {config.engine.kind, ""};
  }
  for (const EngineInfo& engine : engine_table()) {
    const std::optional<std::string> reason = engine.reason(prior, num_channels);
    if (!reason) continue;
    // The exact engine is taken even where another one has the smoother, so that it is said that it
    // does not go together; a beam or the fast engine gives way to particles.
    const bool gives_way = engine.kind != EngineKind::kExact && !supports(engine, config);
    if (gives_way) return {EngineKind::kParticle, "only particles support this smoother"};
    return {engine.kind, *reason};
  }
  return {EngineKind::kParticle, ""};
}

void check_engine(const Config& config, const AnyPrior& prior) {
  const EngineInfo& engine = engine_info(choose_engine(config, prior, 0).kind);
  if (!supports(engine, config)) refuse_smoother(engine, config);
  engine.check_options(config, prior);
}

namespace {

const EngineInfo& engine_of(const EngineRequest& request) {
  const Estimate& start = request.start;
  return engine_info(choose_engine(request.config, start.prior, start.basis.rows()).kind);
}

}  // namespace

std::unique_ptr<Engine> make_engine(const EngineRequest& request) {
  const Estimate& start = request.start;
  return with_channel_gains(with_levels(engine_of(request).make(request), start.law), start.season,
                            request.smooths && request.config.learns_channel_profiles());
}

namespace {

// Sequence by sequence. Each has random numbers of its own.
Matrix smooth_sequences(const EngineInfo& engine, const EngineRequest& request,
                        const RecordView& observations,
                        const std::function<bool(Index)>& is_wanted) {
  const std::vector<Index> begins = observations.sequences();
  Matrix means(observations.size(), request.start.basis.cols());
  request.pool->run(std::ssize(begins), [&](Index task) {
    if (is_wanted && !is_wanted(task)) return;
    const auto i = static_cast<std::size_t>(task);
    const Index end = i + 1 < begins.size() ? begins[i + 1] : observations.size();
    const EngineRequest of_sequence{request.config, request.start,
                                    request.seed + (static_cast<std::uint64_t>(i) << 32),
                                    request.pool, request.smooths};
    means.middleRows(begins[i], end - begins[i]) =
        engine.smooth_record(of_sequence, observations.part(begins[i], end - begins[i]));
  });
  return means;
}

}  // namespace

Matrix smooth_record(const EngineRequest& request, const RecordView& observations,
                     const std::function<bool(Index)>& is_wanted) {
  const Estimate& start = request.start;
  const EngineInfo& engine = engine_of(request);
  Record room;
  const RecordView given =
      with_channel_profiles(observations, start.season.channel_profiles(), room);
  if (!drifts(start.law)) return smooth_sequences(engine, request, given, is_wanted);
  return smooth_sequences(engine, request,
                          with_found_levels(engine.make(request), start.law, given), is_wanted);
}

ProposalKind choose_proposal(const Config& config, const AnyPrior& prior, Index num_channels) {
  const ProposalKind asked = config.engine.proposal;
  if (asked == ProposalKind::kGuided && !prior.is_guided()) {
    throw UsageError(fmt::format(
        "prior '{}' has no guide, which proposal guided needs; use prior or auto", prior.name()));
  }
  if (asked != ProposalKind::kAuto) return asked;
  const bool pays = prior.is_guided() && !config.paper_exact && num_channels >= kGuidedChannels &&
                    prior.num_components() >= kGuidedComponents;
  return pays ? ProposalKind::kGuided : ProposalKind::kPrior;
}

Config filter_config(const EngineConfig& engine, const AnyPrior& prior) {
  engine.validate();
  Config config;
  config.num_components = prior.num_components();
  config.engine = engine;
  return config;
}

}  // namespace headwater
