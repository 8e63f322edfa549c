#include "headwater/reference/forecast_coverage.hpp"

#include "headwater/emission/negative_binomial.hpp"
#include "headwater/inference.hpp"
#include "headwater/models/basis_selection.hpp"
#include "headwater/models/finite_prior.hpp"
#include "headwater/models/gamma_prior.hpp"
#include "headwater/models/independent_prior.hpp"
#include "headwater/models/log_gaussian.hpp"
#include "headwater/models/relaxed_selection.hpp"
#include "headwater/simulate.hpp"

namespace headwater::reference {

namespace {

constexpr Index kChannels = 3;
// The k-th smallest of n draws covers k / (n + 1) on average: of 399, the 20th covers .05 and the
// 380th .95, without a bias.
constexpr Index kDraws = 399;

std::vector<AnyPrior> all_priors() {
  const Matrix states = (Matrix(3, 2) << 0.5, 1, 1.5, 0.2, 1, 2).finished();
  const Matrix moves = (Matrix(3, 3) << 0.8, 0.1, 0.1, 0.2, 0.7, 0.1, 0.1, 0.3, 0.6).finished();
  // Six sources are hardly ever all off, so that no quantile is zero.
  return {AnyPrior(BasisSelection(6, 0.5, 0.7)), AnyPrior(RelaxedSelection(3, 0.8)),
          AnyPrior(LogGaussian(2, 0.9, 0.3)),    AnyPrior(GammaPrior(2, 1.5, 0.8)),
          AnyPrior(IndependentPrior(2, 2.0)),    AnyPrior(FiniteStatePrior(states, moves))};
}

// Components are at their strongest one after the other.
Season weekly(Index num_components) {
  constexpr Index kPeriod = 7;
  Matrix profile(num_components, kPeriod);
  for (Index k = 0; k < num_components; ++k) {
    for (Index h = 0; h < kPeriod; ++h) profile(k, h) = (h + k) % kPeriod < 2 ? 2 : 0.6;
  }
  return Season({profile});
}

}  // namespace

std::vector<ForecastCase> forecast_cases() {
  std::vector<ForecastCase> cases;
  for (const AnyPrior& prior : all_priors()) {
    const Matrix basis = random_basis(kChannels, prior.num_components(), 1000, 7);
    cases.push_back({prior.name(), {basis, prior, AnyLaw()}});
    const AnyLaw law = NegativeBinomial(Vector::Constant(1, 0.3));
    cases.push_back({prior.name() + ", dispersion .3", {basis, prior, law}});
    const Season season = weekly(prior.num_components());
    cases.push_back({prior.name() + ", dispersion .3, season", {basis, prior, law, season}});
  }
  return cases;
}

std::vector<Coverage> forecast_coverage(const Estimate& truth, const CoverageOptions& options) {
  std::vector<Coverage> found;
  for (const Index step : options.steps) found.push_back({step, 0, 0});
  EngineConfig engine;
  engine.num_particles = options.num_particles;
  for (Index i = 0; i < options.num_streams; ++i) {
    const std::uint64_t seed = options.seed + static_cast<std::uint64_t>(i);
    Simulator stream(truth.prior, truth.emission(), seed);
    ModelFilter filter(truth, false, engine, seed);
    for (Index t = 0; t < options.num_seen; ++t) {
      stream.next();
      filter.step(stream.observation());
    }
    Forecast forecast = filter.forecast(
        {.quantiles = {0.05, 0.95}, .with_total = true, .num_draws = kDraws, .seed = seed});
    for (Coverage& at : found) {
      for (; forecast.step() < at.step; forecast.next()) stream.next();
      const Matrix interval = forecast.quantiles();
      const std::vector<double>& y = stream.observation();
      double total = 0;
      for (const double count : y) total += count;
      at.channel_inside += y[0] >= interval(0, 0) && y[0] <= interval(0, 1);
      at.total_inside += total >= interval(kChannels, 0) && total <= interval(kChannels, 1);
    }
  }
  return found;
}

}  // namespace headwater::reference
