#include "ranks.hpp"

#include <fmt/format.h>

#include "headwater/error.hpp"
#include "headwater/reducer.hpp"
#include "headwater/session/engine_table.hpp"
#include "headwater/session/option_row.hpp"
#include "progress.hpp"
#include "stop_signals.hpp"
#include "words.hpp"

using namespace headwater;

namespace {

Ranks* all_ranks = nullptr;  // null in headwater

OptionTable<RankOptions> shard_row(const char* help) {
  if (all_ranks == nullptr) return {};
  return rows::in_group<RankOptions>(
      "Ranks", {rows::choice({.name = "shard", .help = help}, &RankOptions::shard,
                             {{"channels", Shard::kChannels}, {"sequences", Shard::kSequences}})});
}

// Each rank has the sequences of one stretch of the round.
RoundStatistics run_shared(const Session& session, const SequenceRound& round,
                           const RecordView& rows) {
  const std::vector<Index> begins = rows.sequences();
  const Index count = std::ssize(begins);
  const Index rank = all_ranks->rank();
  const Index size = all_ranks->size();
  RoundStatistics own;
  for (Index i = rank * count / size; i < (rank + 1) * count / size; ++i) {
    const Index first = begins[static_cast<std::size_t>(i)];
    const Index end = i + 1 < count ? begins[static_cast<std::size_t>(i) + 1] : rows.size();
    own.merge(session.statistics(round, rows.part(first, end - first), round.first() + i));
  }
  RoundStatistics all;
  for (const std::string& bytes : gather_bytes(*all_ranks, own.bytes())) {
    all.merge(RoundStatistics::of_bytes(bytes));
  }
  return all;
}

}  // namespace

void set_ranks(Ranks& ranks) { all_ranks = &ranks; }

bool is_first_rank() { return all_ranks == nullptr || all_ranks->rank() == 0; }

OptionTable<RankOptions> RankOptions::table() {
  return shard_row(
      "what the ranks divide among themselves: the channels of each observation, or the sequences "
      "of DATA; the result does not depend on it");
}

OptionTable<RankOptions> RankOptions::table_with_rounds() {
  return shard_row(
      "what the ranks divide among themselves: the channels of each observation, or the sequences "
      "of each --round; the result does not depend on it");
}

Ranks* RankOptions::ranks_of_sequences() const {
  return shard == Shard::kSequences ? all_ranks : nullptr;
}

EngineConfig RankOptions::engine_for(EngineConfig engine, const Model& model) const {
  if (ranks_of_sequences() == nullptr) return engine;
  const AnyPrior& prior = model.reported.prior;
  engine.proposal =
      choose_proposal(filter_config(engine, prior), prior, model.reported.basis.rows());
  return engine;
}

void RankOptions::check(const DataOptions& data, const EngineConfig& engine) const {
  if (all_ranks == nullptr) return;
  if (data.follow || data.is_pipe()) {
    throw UsageError(fmt::format(
        "{}: every rank reads the data by itself; expected a file, not a pipe or --follow",
        data.name));
  }
  if (engine.num_threads > 1) {
    throw UsageError(fmt::format("--threads {}: a rank has one thread; start more ranks instead",
                                 engine.num_threads));
  }
}

std::unique_ptr<SharedChannels> RankOptions::share(const DataStream& data, bool quiet) const {
  if (all_ranks == nullptr || shard != Shard::kChannels) return nullptr;
  auto shared = std::make_unique<SharedChannels>(*all_ranks, data.num_channels(), Reducer::kBlock);
  const int at_work = shared->num_at_work();
  if (!quiet && at_work < all_ranks->size()) {
    say("{} channels make {} of {} channels: {} of {} ranks have work, and the others wait\n",
        with_commas(data.num_channels()),
        shared->num_blocks() == 1 ? "one block" : fmt::format("{} blocks", shared->num_blocks()),
        with_commas(Reducer::kBlock), at_work, all_ranks->size());
  }
  return shared;
}

void RankOptions::share_rounds(Restarts& restarts) const {
  if (all_ranks == nullptr || shard != Shard::kSequences) return;
  for (Index i = 0; i < restarts.size(); ++i) {
    Session& session = restarts.session(i);
    if (session.config().round == 0) {
      throw UsageError("--shard sequences divides the sequences of a round; give --round");
    }
    session.run_rounds_by([&session](const SequenceRound& round, const RecordView& rows) {
      return run_shared(session, round, rows);
    });
  }
}

bool is_stop_requested() {
  double is_requested = stop_signal() != 0 ? 1 : 0;
  if (all_ranks != nullptr && all_ranks->size() > 1) all_ranks->broadcast({&is_requested, 1}, 0);
  return is_requested != 0;
}
