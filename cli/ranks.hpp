#pragma once

#include <memory>

#include "data_options.hpp"
#include "data_stream.hpp"
#include "headwater/config.hpp"
#include "headwater/model.hpp"
#include "headwater/parallel/ranks.hpp"
#include "headwater/session/option_row.hpp"
#include "headwater/session/restarts.hpp"

// The processes that a command runs on. In headwater there is one. headwater-mpi names its ranks
// before it runs a command; each of them runs the whole command, and the first one alone speaks and
// writes files.
void set_ranks(headwater::Ranks& ranks);
bool is_first_rank();

// What the ranks share out among themselves.
enum class Shard { kChannels, kSequences };

// The option --shard of headwater-mpi; headwater has none.
struct RankOptions {
  Shard shard = Shard::kChannels;

  static headwater::OptionTable<RankOptions> table();
  static headwater::OptionTable<RankOptions> table_with_rounds();
  // Throws a UsageError if ranks cannot run with these. Without ranks, everything can.
  void check(const DataOptions& data, const headwater::EngineConfig& engine) const;
  // As long as the result lives, the sums over the channels of the data are shared. Says so if that
  // cannot pay. Null where nothing is shared.
  std::unique_ptr<headwater::SharedChannels> share(const DataStream& data, bool quiet) const;
  // The ranks that share out sequences; null where nobody does.
  headwater::Ranks* ranks_of_sequences() const;
  // The engine for a filter whose sequences may be shared. Then particles are guided or are not
  // from the first row on: that they become guided on the way is for a process that sees all rows.
  headwater::EngineConfig engine_for(headwater::EngineConfig engine,
                                     const headwater::Model& model) const;
  // The sequences of each round of the fits are shared. Throws a UsageError if there are no rounds.
  void share_rounds(headwater::Restarts& restarts) const;
};

// Whether a stop was requested. All ranks ask at the same time, and the first one answers.
bool is_stop_requested();
