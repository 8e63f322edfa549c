#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "headwater/config.hpp"
#include "headwater/engines/engine.hpp"
#include "headwater/learning/estimate.hpp"
#include "headwater/observation.hpp"
#include "headwater/parallel/thread_pool.hpp"
#include "headwater/session/engine_cost.hpp"

namespace headwater {

// What an engine is made from.
struct EngineRequest {
  const Config& config;
  const Estimate& start;
  std::uint64_t seed = 1;  // of its random numbers
  std::shared_ptr<const ThreadPool> pool;
  bool smooths = true;  // false: the engine only filters, and has no statistics
};

// One number of a report on a step, by the name that it has in a log.
using FieldValue = std::variant<bool, std::int64_t, double>;
using VisitField = std::function<void(const char* name, const FieldValue& value)>;

// An engine that can be asked for by name.
struct EngineInfo {
  EngineKind kind;
  std::string name;
  std::string meaning;
  // Throws UsageError, saying why, if the engine cannot have this prior.
  void (*check_reach)(const AnyPrior& prior);
  // Why 'auto' takes it for this prior and so many channels (0: not known yet); nothing if it does
  // not. The engines are asked in the order of the table.
  std::optional<std::string> (*reason)(const AnyPrior& prior, Index num_channels);
  std::vector<SmootherKind> smoothers;  // beside kAuto
  bool can_be_paper_exact = false;
  // Throws UsageError for what else the engine cannot do with these options.
  void (*check_options)(const Config& config, const AnyPrior& prior);
  std::unique_ptr<Engine> (*make)(const EngineRequest& request);
  // E[x_t | all observations], T x K, background included; by particles and by the beam, given
  // those up to a lag after t.
  Matrix (*smooth_record)(const EngineRequest& request, const RecordView& observations);
  // What it reports of a step, beside what all engines do.
  void (*report)(const FilterStep& step, const VisitField& visit);
  // What an observation costs; null: little enough never to be refused.
  EngineCost (*cost)(const Config& config, const AnyPrior& prior, Index num_channels) = nullptr;
};

// All of them: an explicit table.
const std::vector<EngineInfo>& engine_table();
const EngineInfo& engine_info(EngineKind kind);  // kind is not kAuto

// The engine that is meant for this prior and so many channels: never kAuto. num_channels: 0 where
// that is not known yet. Throws UsageError if one is asked for that cannot be had.
EngineChoice choose_engine(const Config& config, const AnyPrior& prior, Index num_channels);

// Throws UsageError if the engine that is meant cannot do what is asked for.
void check_engine(const Config& config, const AnyPrior& prior);

std::unique_ptr<Engine> make_engine(const EngineRequest& request);
Matrix smooth_record(const EngineRequest& request, const RecordView& observations,
                     const std::function<bool(Index)>& is_wanted);

// Whether the engine's particles, if it has any, look at the observation before they move.
ProposalKind choose_proposal(const Config& config, const AnyPrior& prior, Index num_channels);

// What a config asks for that only has to filter. Throws UsageError if an option is out of range.
Config filter_config(const EngineConfig& engine, const AnyPrior& prior);

}  // namespace headwater
