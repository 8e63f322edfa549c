#pragma once

#include "headwater/config.hpp"
#include "headwater/session/option_row.hpp"

// Every option of a fit, one row each. The command line, --config, Python's keywords, describe(),
// validate() and the reference pages follow from these tables: a new option is a new member of one
// of the structs and a new row here (CONTRIBUTING.md, "A new option").

namespace headwater {

// The law of the activations, for simulate and fit.
const OptionTable<PriorConfig>& prior_options();
// The law of the counts, for the same.
const OptionTable<CountsConfig>& counts_options();
// The season, for the same.
const OptionTable<SeasonConfig>& season_options();
// How the E-step is done, for fit, apply and score.
const OptionTable<EngineConfig>& engine_options();
// All of a fit, those of the prior, the engine and the M-step included.
const OptionTable<Config>& config_options();

// Every command that draws random numbers has it.
template <class Target>
Option<Target> seed_option(std::uint64_t Target::*member) {
  return rows::whole_number({.name = "seed",
                             .value_name = "S",
                             .help = "seed of all random numbers: the same seed gives the same "
                                     "bytes, for any number of threads",
                             .python_name = "seed",
                             .recorded = Recorded::kCheckpoints},
                            member, 0, UINT64_MAX);
}

}  // namespace headwater
