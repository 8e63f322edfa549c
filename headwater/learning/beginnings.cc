#include "headwater/learning/beginnings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "headwater/learning/activation_law.hpp"
#include "headwater/learning/cumulant_start.hpp"
#include "headwater/learning/initialise.hpp"
#include "headwater/learning/kl_nmf.hpp"

namespace headwater {

namespace {

constexpr int kFactorisationIterations = 100;
// A basis with more entries than this has one beginning: the buffer has few observations of so many
// channels, and some hundred iterations of EM would each go over all entries.
constexpr Index kMostEntriesTried = Index{1} << 21;
// It is a factorisation of no more operations than this, some 20 seconds: a cell takes four for
// each component and some thirty beside.
constexpr double kMostWork = 2e10;
constexpr int kFewestIterations = 5;
// A factorisation's zeros, over the mean of their channel.
constexpr double kFloor = 1e-3;

int affordable_iterations(Index num_cells, Index num_columns) {
  const double work = static_cast<double>(num_cells) * static_cast<double>(4 * num_columns + 30);
  return static_cast<int>(
      std::clamp<double>(kMostWork / work, kFewestIterations, kFactorisationIterations));
}

// A factorisation with columns on the scale that they have under the prior, and without zeros.
Matrix factorised(const Eigen::Ref<const Matrix>& observations, const Matrix& start,
                  const AnyPrior& prior, int iterations = kFactorisationIterations) {
  const Factorisation found = kl_nmf(observations, start, iterations);
  const Vector scale = found.activations.rowwise().mean().cwiseQuotient(mean_activation(prior));
  Matrix basis = found.basis * scale.asDiagonal();
  const Vector least = kFloor * start.rowwise().mean();
  for (Index k = 0; k < basis.cols(); ++k) basis.col(k) = basis.col(k).cwiseMax(least);
  return basis.allFinite() ? basis : start;
}

}  // namespace

std::vector<Beginning> beginnings(const Eigen::Ref<const Matrix>& observations,
                                  const AnyPrior& prior, const AnyLaw& law, std::uint64_t seed,
                                  Index random_starts, const ThreadPool& pool) {
  std::vector<Beginning> bases;
  if (observations.rows() * prior.num_components() > kMostEntriesTried) {
    const Matrix random = random_start(observations, prior, seed);
    const int iterations = affordable_iterations(observations.size(), random.cols());
    bases.push_back({"factorisation", factorised(observations, random, prior, iterations), true});
    return bases;
  }
  for (Index i = 0; i < random_starts; ++i) {
    const std::uint64_t own_seed = seed + (static_cast<std::uint64_t>(i) << 40);
    bases.push_back({fmt::format("random {}", i + 1), random_start(observations, prior, own_seed)});
  }
  const Matrix random = bases[0].basis;
  Matrix cumulants;
  Matrix of_cumulants;
  Matrix of_random;
  pool.run(2, [&](Index task) {
    if (task == 1) {
      of_random = factorised(observations, random, prior);
      return;
    }
    CumulantStart found = cumulant_start(observations, law, activation_variances(prior), random);
    if (found.columns_found == 0 || !found.basis.allFinite()) return;
    cumulants = std::move(found.basis);
    of_cumulants = factorised(observations, cumulants, prior);
  });
  if (cumulants.size() > 0) {
    bases.push_back({"factorisation of cumulants", std::move(of_cumulants), true});
    bases.push_back({kCumulants, std::move(cumulants)});
  }
  bases.push_back({"factorisation", std::move(of_random), true});
  return bases;
}

}  // namespace headwater
