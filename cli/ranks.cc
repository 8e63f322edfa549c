#include "ranks.hpp"

#include <fmt/format.h>

#include "headwater/error.hpp"
#include "headwater/reducer.hpp"
#include "headwater/session/option_row.hpp"
#include "progress.hpp"
#include "stop_signals.hpp"
#include "words.hpp"

using namespace headwater;

namespace {

Ranks* all_ranks = nullptr;  // null in headwater

const Choices<Shard> kShards = {{"channels", Shard::kChannels}};

}  // namespace

void set_ranks(Ranks& ranks) { all_ranks = &ranks; }

bool is_first_rank() { return all_ranks == nullptr || all_ranks->rank() == 0; }

OptionTable<RankOptions> RankOptions::table() {
  using namespace headwater::rows;
  if (all_ranks == nullptr) return {};
  return in_group<RankOptions>(
      "Ranks", {choice({.name = "shard",
                        .help = "what the ranks share out: the channels of each observation; the "
                                "result does not depend on it"},
                       &RankOptions::shard, kShards)});
}

void RankOptions::check(const DataOptions& data, const EngineConfig& engine) const {
  if (all_ranks == nullptr) return;
  if (data.follow || data.is_pipe()) {
    throw UsageError(fmt::format(
        "{}: every rank reads the data for itself; expected a file, and not a pipe or --follow",
        data.name));
  }
  if (engine.num_threads > 1) {
    throw UsageError(fmt::format("--threads {}: a rank has one thread; start more ranks instead",
                                 engine.num_threads));
  }
}

std::unique_ptr<SharedChannels> RankOptions::share(const DataStream& data, bool quiet) const {
  if (all_ranks == nullptr) return nullptr;
  auto shared = std::make_unique<SharedChannels>(*all_ranks, data.num_channels(), Reducer::kBlock);
  const int at_work = shared->num_at_work();
  if (!quiet && at_work < all_ranks->size()) {
    say("{} channels are {} of {} channels: {} of {} ranks have work, and the others wait\n",
        with_commas(data.num_channels()),
        shared->num_blocks() == 1 ? "one block" : fmt::format("{} blocks", shared->num_blocks()),
        with_commas(Reducer::kBlock), at_work, all_ranks->size());
  }
  return shared;
}

bool is_stop_requested() {
  double is_requested = stop_signal() != 0 ? 1 : 0;
  if (all_ranks != nullptr && all_ranks->size() > 1) all_ranks->broadcast({&is_requested, 1}, 0);
  return is_requested != 0;
}
