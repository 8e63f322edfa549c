#include "headwater/engines/particle_engine.hpp"

#include <fmt/format.h>

#include <cassert>

#include "headwater/error.hpp"
#include "headwater/smoothers/lag_window.hpp"
#include "headwater/smoothers/particle_window.hpp"
#include "headwater/smoothers/path_recursion.hpp"
#include "headwater/smoothers/path_window.hpp"

namespace headwater {

namespace {

using SmootherKind = ParticleEngineOptions::Smoother;

std::unique_ptr<ParticleSmoother> make_smoother(const ParticleFilter& filter,
                                                const ParticleEngineOptions& options) {
  WindowOptions window = window_under(filter.emission().law(), options.window);
  switch (options.smoother) {
    case SmootherKind::kNone:
      return nullptr;
    case SmootherKind::kPath:
      return std::make_unique<PathWindow>(filter, window, options.learn_prior);
    case SmootherKind::kPathAsPrinted:
      return std::make_unique<PathRecursion>(filter, options.learn_prior);
    case SmootherKind::kLag:
    case SmootherKind::kParis:
    case SmootherKind::kForward:
      break;
  }
  const Index lag = options.window.lag > 0 ? options.window.lag : default_lag(options.smoother);
  if (options.smoother == SmootherKind::kLag) {
    return std::make_unique<LagWindow>(filter, lag, window, options.learn_prior);
  }
  // A pass goes over the lag once more for each block, and here that is what everything costs.
  if (options.smoother == SmootherKind::kForward) window.smallest_block = 64;
  return std::make_unique<ParticleWindow>(filter, make_kernel(options), lag, window,
                                          options.learn_prior);
}

}  // namespace

Index default_lag(ParticleEngineOptions::Smoother smoother) {
  switch (smoother) {
    case SmootherKind::kParis:
      return 50;
    case SmootherKind::kForward:
      return 20;
    default:
      return 5;
  }
}

std::unique_ptr<BackwardKernel> make_kernel(const ParticleEngineOptions& options) {
  switch (options.smoother) {
    case SmootherKind::kParis:
      return std::make_unique<ParisKernel>(options.backward_draw, options.num_backward_draws);
    case SmootherKind::kForward:
      return std::make_unique<DenseKernel>();
    default:
      return std::make_unique<GenealogyKernel>();
  }
}

void check_smoother(const AnyPrior& prior, const ParticleEngineOptions& options) {
  const bool is_paris = options.smoother == SmootherKind::kParis;
  if ((is_paris || options.smoother == SmootherKind::kForward) && !prior.has_density()) {
    throw UsageError(
        fmt::format("prior '{}' has no transition density, which smoother {} needs; use lag or "
                    "path",
                    prior.name(), is_paris ? "paris" : "forward"));
  }
  if (is_paris && options.backward_draw == BackwardDraw::kRejection && !prior.has_bound()) {
    throw UsageError(fmt::format(
        "prior '{}' has no bound on its transition density, which backward draws by rejection "
        "need; use mcmc or exact",
        prior.name()));
  }
  assert(options.num_backward_draws >= 1);
}

ParticleEngine::ParticleEngine(const AnyPrior& prior, const Emission& emission,
                               const ParticleEngineOptions& options,
                               std::shared_ptr<const ThreadPool> pool)
    : FilterEngine(ParticleFilter(prior, emission, options.filter, std::move(pool))) {
  check_smoother(prior, options);
  follow_with(make_smoother(filter_, options));
}

void ParticleEngine::sample_predicted(Generator& generator, Matrix& out) const {
  QuantileTable law;
  const WeightedActivations predicted = filter_.predicted();
  law.set(as_span(predicted.weights));
  for (auto row : out.rowwise()) {
    row = predicted.activations.row(law.at(generator.uniform() * law.total()));
  }
}

// As many points as keep the law, by systematic sampling, and its moments.
void ParticleEngine::write_prediction(PredictedActivations& out) const {
  constexpr Index kMostPoints = 512;
  const WeightedActivations cloud = filter_.predicted();
  const Index size = cloud.weights.size();
  if (size <= kMostPoints) {
    out.points = cloud.activations;
    out.weights = cloud.weights;
  } else {
    QuantileWalk walk(static_cast<std::size_t>(size),
                      [&](std::size_t i) { return cloud.weights[static_cast<Index>(i)]; });
    out.points.resize(kMostPoints, cloud.activations.cols());
    for (Index i = 0; i < kMostPoints; ++i) {
      const double point = (static_cast<double>(i) + 0.5) / static_cast<double>(kMostPoints);
      out.points.row(i) = cloud.activations.row(walk.at(point * cloud.weights.sum()));
    }
    out.weights.setConstant(kMostPoints, 1.0 / static_cast<double>(kMostPoints));
  }
  out.are_whole = false;
  out.filtered = filtered_activation();
  const AnyPrior& prior = filter_.prior();
  if (prior.is_finite()) {
    out.means.resize(0);
    out.variances.resize(0);
    return;
  }
  Matrix x = cloud.activations.leftCols(prior.num_components());
  out.is_logarithmic = prior.is_affine() && prior.moments().is_logarithmic;
  if (out.is_logarithmic) x = x.array().log();
  out.means = x.transpose() * cloud.weights;
  out.variances =
      (x.rowwise() - out.means.transpose()).array().square().matrix().transpose() * cloud.weights;
}

}  // namespace headwater
