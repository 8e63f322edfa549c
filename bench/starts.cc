// What a search for a start costs beside the fit, and how good it is: processor time of the
// thorough search on one thread, that of 5,000 observations of the fit that follows (by the engine
// that `auto` chooses; of fewer, from the start that was found), and their ratio; the error of the
// basis, |B - truth| / |truth| with columns matched; and the mean log-probability of an observation
// among 1,000 that follow, by the filter of the fast engine or, for finite priors, the engine of
// the fit.
//   Usage: bench_starts [STREAMS] [PRIOR] [CHANNELS] [COMPONENTS] [LAWS: auto|poisson] [FIRST SEED]

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "bench/summary.hpp"
#include "headwater/engines/fast_engine.hpp"
#include "headwater/law_table.hpp"
#include "headwater/learning/automatic_start.hpp"
#include "headwater/learning/law_choice.hpp"
#include "headwater/matching.hpp"
#include "headwater/random.hpp"
#include "headwater/reference/streams.hpp"
#include "headwater/registry.hpp"
#include "headwater/session.hpp"
#include "headwater/simulate.hpp"

using namespace headwater;

namespace {

constexpr Index kAfter = 1000;
constexpr double kCompared = 5000;
constexpr Index kWarm = 128;
constexpr Index kTimed = 256;

struct Case {
  std::string prior;
  Index channels;
  Index components;
  double scale;     // entries of the basis have this mean where they are not zero
  double nonzeros;  // part of the entries
};

Parameters truths(const std::string& prior) {
  if (prior == "gamma") return {scalar_parameter("shape", 2), scalar_parameter("persistence", 0.8)};
  if (prior == "log-gaussian") {
    return {scalar_parameter("persistence", 0.9), scalar_parameter("noise", 0.3)};
  }
  if (prior == "basis-selection") {
    return {scalar_parameter("stay_off", 0.8571), scalar_parameter("stay_on", 0.6926)};
  }
  return {};
}

Matrix true_basis(const Case& c, std::uint64_t seed) {
  const RandomStream random(seed);
  Matrix basis(c.channels, c.components);
  for (Index i = 0; i < basis.size(); ++i) {
    Generator generator = random.at(0, static_cast<std::uint32_t>(i), Purpose::basis);
    const double entry = c.scale * exponential(generator);
    basis(i) = generator.uniform() < c.nonzeros ? entry : 0;
  }
  return basis;
}

std::vector<AnyLaw> laws_of(Index channels, bool all) {
  std::vector<AnyLaw> laws = {AnyLaw()};
  if (!all) return laws;
  for (const char* name : {"negative-binomial", "drifting", "hurdle", "drifting-hurdle"}) {
    CountsConfig counts;
    counts.law = name;
    laws.push_back(make_law(channels, counts));
  }
  return laws;
}

// Of one observation, when the fit is under way.
double seconds_of_a_step(const Config& config, const AnyPrior& prior, const Matrix& record) {
  Session session(config, prior);
  for (Index t = 0; t < kWarm; ++t) session.update(as_span(record.col(t)));
  const double seconds = bench::processor_seconds([&] {
    for (Index t = kWarm; t < kWarm + kTimed; ++t) session.update(as_span(record.col(t)));
  });
  return seconds / static_cast<double>(kTimed);
}

double prediction(const Config& config, const Estimate& start, const RecordView& all, Index known) {
  if (start.prior.is_affine() && start.season.empty()) {
    FastEngineOptions options;
    options.filter.seed = config.seed;
    options.smooths = false;
    FastEngine engine(start.prior, start.emission(), options);
    return held_out_predictions(engine, all, known).mean();
  }
  return 0;
}

void show(const Case& c, bool all_laws, std::uint64_t seed) {
  PriorConfig named;
  named.name = c.prior;
  named.parameters = truths(c.prior);
  const AnyPrior simulated = make_prior(c.components, named);
  named.parameters.clear();
  const AnyPrior prior = make_prior(c.components, named);
  const Matrix truth = true_basis(c, seed);
  const Index length = start_buffer(c.channels, prior);
  const Matrix counts = reference::simulate_record(simulated, truth, length + kAfter, seed);
  const Record record(counts);

  Config config;
  config.num_components = c.components;
  config.prior = named;
  config.counts.law = "poisson";
  std::optional<StartSearch> found;
  const double search = bench::processor_seconds([&] {
    found.emplace(automatic_start(record.first(length), prior, laws_of(c.channels, all_laws), false,
                                  config.effective_m_step(), config.seed));
  });
  const Estimate& start = found->estimate;
  config.initial_basis = start.basis;
  const double fit = kCompared * seconds_of_a_step(config, start.prior, counts);
  const double error = relative_error(in_order_of(start.basis, truth), truth);
  fmt::print("{:<18} {:>5} {:>4} {:>6} {:>9.2f} {:>9.2f} {:>7.2f} {:>7.3f} {:>12.3f}  {}, {}\n",
             c.prior, c.channels, c.components, length, search, fit, search / fit, error,
             prediction(config, start, record, length), found->report.chosen, start.law->name());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const int streams = argc > 1 ? std::atoi(argv[1]) : 1;
  const std::string prior = argc > 2 ? argv[2] : "";
  const Index channels = argc > 3 ? std::atol(argv[3]) : 0;
  const Index components = argc > 4 ? std::atol(argv[4]) : 0;
  const bool all_laws = argc > 5 && std::string(argv[5]) == "auto";
  const auto first = static_cast<std::uint64_t>(argc > 6 ? std::atol(argv[6]) : 1);
  fmt::print("{:<18} {:>5} {:>4} {:>6} {:>9} {:>9} {:>7} {:>7} {:>12}\n", "", "M", "K", "seen",
             "search, s", "fit, s", "ratio", "error", "prediction");
  std::vector<Case> cases;
  for (const char* name : {"basis-selection", "log-gaussian", "gamma"}) {
    if (!prior.empty() && prior != name) continue;
    if (channels > 0) {
      const bool is_wide = channels >= 100;
      cases.push_back({name, channels, components, is_wide ? 1.0 : 10.0, is_wide ? 0.3 : 1.0});
      continue;
    }
    cases.push_back({name, 50, 10, 10, 1});
    cases.push_back({name, 200, 20, 1, 0.3});
    cases.push_back({name, 1000, 50, 1, 0.3});
  }
  for (const Case& c : cases) {
    for (int i = 0; i < streams; ++i) show(c, all_laws, first + static_cast<std::uint64_t>(i));
  }
}
