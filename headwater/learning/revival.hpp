#pragma once

#include <cstdint>
#include <optional>

#include "headwater/emission/statistics.hpp"

namespace headwater {

// A component that does nothing of its own.
struct IdleComponent {
  Index component;
  // The component that it is the same as; -1 if it is dead: it has next to none of the counts.
  Index like = -1;
};

// The first such among the first num_components columns, if any. Dead: less than a thousandth of an
// even share of the expected counts. The same: columns with a cosine over 0.9999, of which the one
// with fewer counts is idle.
std::optional<IdleComponent> find_idle(const Statistics& statistics, const Matrix& basis,
                                       Index num_components);

// A new column for an idle component: what the busiest other one has, each entry times a number
// between 0.5 and 1.5 of its own, so that the two can part. `component` is given that column in the
// basis, and statistics to match it, with which EM goes on from there.
void revive(Index component, Index num_components, std::uint64_t seed, std::int64_t time,
            Statistics& statistics, Matrix& basis);

// Of a component that was revived, where the prior has learned the scale of its activations: they
// go on in the unit in which their mean was `mean_activation`, and the column is larger instead.
void give_back_unit(Index component, double mean_activation, Statistics& statistics, Matrix& basis);

}  // namespace headwater
