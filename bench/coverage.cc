// How often 95 % intervals, estimate +- 1.96 standard errors, have the truth in them: every entry
// of the basis and every parameter pooled, over many simulated streams. Fits start at the truth
// times exp(.3 normal).
//   Usage: bench_coverage [STREAMS] [PART OF THE LENGTH] [CASE]

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "bench/summary.hpp"
#include "headwater/law_table.hpp"
#include "headwater/matching.hpp"
#include "headwater/parallel/thread_pool.hpp"
#include "headwater/reference/streams.hpp"
#include "headwater/registry.hpp"
#include "headwater/session.hpp"
#include "headwater/simulate.hpp"

using namespace headwater;

namespace {

struct Case {
  const char* name;
  const char* prior;
  Parameters parameters;  // the true ones
  Index channels;
  Index components;
  double scale;  // entries of the basis are uniform on (0, scale)
  Index length;
  double dispersion;   // of the counts, 0: none
  const char* law;     // that is fitted
  Index particles;     // 0: the default engine
  const char* target;  // in per cent
};

std::vector<Case> cases() {
  const auto both = [](const char* first, double a, const char* second, double b) {
    return Parameters{scalar_parameter(first, a), scalar_parameter(second, b)};
  };
  const Parameters fast = both("stay_off", 0.8571, "stay_on", 0.6926);
  return {
      {"example 1", "basis-selection", fast, 8, 5, 10, 20000, 0, "poisson", 0, "93 to 97"},
      {"negative binomial", "basis-selection", fast, 8, 5, 10, 20000, 0.3, "negative-binomial", 0,
       "93 to 97"},
      {"slow chains", "basis-selection", both("stay_off", 0.98, "stay_on", 0.95), 8, 5, 10, 20000,
       0, "poisson", 0, "92 to 98"},
      {"wrong law", "basis-selection", fast, 20, 3, 10, 20000, 0.2, "poisson", 0, "> 88"},
      {"example 2",
       "relaxed-selection",
       {scalar_parameter("alpha", 0.95)},
       8,
       5,
       10,
       50000,
       0,
       "poisson",
       200,
       "90 to 98"},
      {"gamma", "gamma", both("shape", 1, "persistence", 0.8), 8, 3, 1, 20000, 0, "poisson", 1000,
       "88 to 98"},
      {"log-gaussian", "log-gaussian", both("persistence", 0.8, "noise", 0.5), 8, 3, 1, 20000, 0,
       "poisson", 1000, "88 to 98"},
  };
}

// Of one form of the errors.
struct Tally {
  double inside = 0;
  double all = 0;
  double ratio = 0;  // squares of errors over those that were stated

  void add(double error, double stated) {
    if (!(stated > 0)) return;
    inside += std::abs(error) <= 1.96 * stated ? 1 : 0;
    ratio += error * error / (stated * stated);
    all += 1;
  }
  void add(const Tally& other) {
    inside += other.inside;
    all += other.all;
    ratio += other.ratio;
  }
};

struct Result {
  Tally basis, parameters, plain_basis, plain_parameters;
  bool is_full = true;
  double seconds = 0;
  double without = 0;  // seconds of the same fit without standard errors
};

Parameters truths(const Case& c) {
  Parameters all = c.parameters;
  all.push_back(scalar_parameter("dispersion", c.dispersion));
  return all;
}

void add_errors(const Case& c, const Model& model, const Matrix& truth,
                const ErrorsOfEstimate& stated, Tally& of_basis, Tally& of_parameters) {
  const std::vector<Index> order = match_columns(model.reported.basis, truth);
  for (Index k = 0; k < truth.cols(); ++k) {
    const Index column = order[static_cast<std::size_t>(k)];
    for (Index m = 0; m < truth.rows(); ++m) {
      of_basis.add(model.reported.basis(m, column) - truth(m, k), stated.basis(m, column));
    }
  }
  const Parameters all = truths(c);
  for (const Parameters& of :
       {model.reported.prior.parameters(), model.reported.law.parameters()}) {
    for (const Parameter& estimate : of) {
      const Parameter* error = find_parameter(stated.parameters, estimate.name);
      const Parameter* true_value = find_parameter(all, estimate.name);
      if (error == nullptr || true_value == nullptr) continue;
      for (Index i = 0; i < error->value.size(); ++i) {
        of_parameters.add(estimate.value(i) - true_value->value(0), error->value(i));
      }
    }
  }
}

Result result_of(const Case& c, Index length, std::uint64_t seed) {
  PriorConfig prior;
  prior.name = c.prior;
  prior.parameters = c.parameters;
  const Matrix basis = random_basis(c.channels, c.components, c.scale, seed);
  CountsConfig counts;
  counts.law = c.dispersion > 0 ? "negative-binomial" : "poisson";
  if (c.dispersion > 0) counts.parameters = {scalar_parameter("dispersion", c.dispersion)};
  Simulator simulator(make_prior(c.components, prior),
                      Emission(basis, make_law(c.channels, counts)), seed);
  Matrix record(c.channels, length);
  for (Index t = 0; t < length; ++t) {
    simulator.next();
    record.col(t) = Eigen::Map<const Vector>(simulator.observation().data(), c.channels);
  }
  Config config;
  config.num_components = c.components;
  config.prior.name = c.prior;
  config.counts.law = c.law;
  config.initial_basis = reference::perturbed(basis, 0.3, seed);
  if (c.particles > 0) {
    config.engine.kind = EngineKind::kParticle;
    config.engine.num_particles = c.particles;
  }
  config.seed = bench::filter_seed(seed);
  Result result;
  const auto fit = [&](bool standard_errors) {
    config.standard_errors = standard_errors;
    Session session(config);
    for (Index t = 0; t < length; ++t) session.update(as_span(record.col(t)));
    session.finish();
    return session.model();
  };
  Model model = [&] {
    std::optional<Model> made;
    result.seconds = bench::processor_seconds([&] { made.emplace(fit(true)); });
    return std::move(*made);
  }();
  if (seed == 1) result.without = bench::processor_seconds([&] { fit(false); });
  if (!model.standard_errors) return result;
  const StandardErrors& errors = *model.standard_errors;
  add_errors(c, model, basis, errors.robust, result.basis, result.parameters);
  add_errors(c, model, basis, errors.plain, result.plain_basis, result.plain_parameters);
  result.is_full = errors.is_full;
  return result;
}

void print_case(const Case& c, Index streams, Index length) {
  const ThreadPool pool(2);
  std::vector<Result> results(static_cast<std::size_t>(streams));
  pool.run(streams, [&](Index set) {
    results[static_cast<std::size_t>(set)] =
        result_of(c, length, 1 + static_cast<std::uint64_t>(set));
  });
  Result sum;
  bool is_full = true;
  for (const Result& result : results) {
    sum.basis.add(result.basis);
    sum.parameters.add(result.parameters);
    sum.plain_basis.add(result.plain_basis);
    sum.plain_parameters.add(result.plain_parameters);
    is_full = is_full && result.is_full;
  }
  const auto per_cent = [](const Tally& tally) {
    return tally.all > 0 ? fmt::format("{:.1f}", 100 * tally.inside / tally.all) : "-";
  };
  const auto ratio = [](const Tally& tally) {
    return tally.all > 0 ? fmt::format("{:.2f}", std::sqrt(tally.ratio / tally.all)) : "-";
  };
  Tally pooled = sum.basis;
  pooled.add(sum.parameters);
  Tally plain = sum.plain_basis;
  plain.add(sum.plain_parameters);
  fmt::print("{:<18} {:>7} {:>9} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7} {:>8} {:>6}\n", c.name,
             length, c.target, per_cent(pooled), per_cent(sum.basis), per_cent(sum.parameters),
             ratio(sum.basis), ratio(sum.parameters), per_cent(plain), ratio(plain),
             is_full ? "full" : "channel",
             fmt::format("{:.0f} %", 100 * (results[0].seconds / results[0].without - 1)));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const Index streams = argc > 1 ? std::atol(argv[1]) : 100;
  const double part = argc > 2 ? std::atof(argv[2]) : 1;
  const std::string only = argc > 3 ? argv[3] : "";
  fmt::print(
      "Per cent of 95 % intervals that have the truth in them, {} streams each. rms: errors over "
      "standard errors.\n\n{:<18} {:>7} {:>9} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7} {:>7} {:>8} "
      "{:>6}\n",
      streams, "", "T", "target", "all", "basis", "other", "rms", "rms", "plain", "rms", "taken",
      "cost");
  for (const Case& c : cases()) {
    if (!only.empty() && only != c.name) continue;
    print_case(c, streams, static_cast<Index>(part * static_cast<double>(c.length)));
  }
}
