#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headwater/any_law.hpp"
#include "headwater/any_prior.hpp"

namespace headwater {

struct NamedBasis {
  std::string name;
  Matrix basis;
  bool is_factorised = false;
};

// The bases that a search for a start begins from. observations: M x T rates, NaN where a cell is
// missing.
std::vector<NamedBasis> beginnings(const Eigen::Ref<const Matrix>& observations,
                                   const AnyPrior& prior, const AnyLaw& law, std::uint64_t seed);

}  // namespace headwater
