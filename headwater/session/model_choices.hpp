#pragma once

#include <vector>

#include "headwater/io/hdf5/hdf5.hpp"
#include "headwater/io/hdf5/hdf5_contents.hpp"
#include "headwater/model.hpp"

// What a model file says of choices: of the number of components, of the prior, and of how many
// restarts have found each component. Nothing is written where nothing was chosen. Reading throws
// InputError if the parts of a table do not fit together.

namespace headwater {

void write_choice(Hdf5File& file, const std::vector<ComponentScore>& table);
std::vector<ComponentScore> read_choice(const Hdf5Contents& file);

void write_priors(Hdf5File& file, const std::vector<PriorScore>& table);
std::vector<PriorScore> read_priors(const Hdf5Contents& file);

void write_stability(Hdf5File& file, const Stability& stability);
Stability read_stability(const Hdf5Contents& file, Index num_components);

}  // namespace headwater
