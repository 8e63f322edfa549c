// The bias of the fast engine for one component, for which a fine grid gives the exact results. M =
// 10, entries of the basis uniform, scaled to a given number of counts per step.
//   Usage: bench_fast_bias [T]

#include <fmt/format.h>

#include <cstdlib>

#include "headwater/engines/fast_engine.hpp"
#include "headwater/models/gamma_prior.hpp"
#include "headwater/models/independent_prior.hpp"
#include "headwater/models/log_gaussian.hpp"
#include "headwater/reference/grid_chain.hpp"
#include "headwater/reference/particle_runs.hpp"
#include "headwater/reference/streams.hpp"
#include "headwater/simulate.hpp"

using namespace headwater;

namespace {

void show(const char* name, const AnyPrior& prior, double counts, Index length,
          Index most_corrected) {
  const Matrix unscaled = random_basis(10, 1, 1, 1);
  const Matrix basis = unscaled * (counts / unscaled.sum());
  const Matrix record = reference::simulate_record(prior, basis, length, 1);
  const auto truth = reference::truth_of(prior, basis, record, 256);
  FastEngineOptions options;
  options.filter.most_corrected = most_corrected;
  FastEngine engine(prior, basis, options);
  const auto run = reference::run_engine(engine, record);
  const Vector means = truth.filtered_means.col(0);
  const Vector apart = run.filtered_means.col(0) - means;
  const auto scale = [](const Statistics& s) { return s.s2.sum() / s.s1.sum(); };
  AnyPrior found = prior;
  AnyPrior best = prior;
  found.maximise(as_span(run.statistics.s3));
  best.maximise(as_span(truth.statistics.s3));
  fmt::print("{:<28} {:>6} {:>12.4f} {:>12.4f} {:>12.4f}  ", name, counts,
             (run.log_likelihood - truth.log_likelihood) / static_cast<double>(length),
             apart.mean() / means.mean(), scale(run.statistics) / scale(truth.statistics) - 1);
  for (std::size_t i = 0; i < prior.parameters().size(); ++i) {
    fmt::print(" {} {:.3f} ({:.3f})", prior.parameters()[i].name, found.parameters()[i].value(0),
               best.parameters()[i].value(0));
  }
  fmt::print("\n");
}

}  // namespace

int main(int argc, char** argv) {
  const Index length = argc > 1 ? std::atol(argv[1]) : 1000;
  fmt::print("T = {}; in brackets what smoothing on the grid gives\n\n", length);
  fmt::print("{:<28} {:>6} {:>12} {:>12} {:>12}   one M-step of the prior\n", "", "counts",
             "log-lik. /T", "mean of x", "column");
  for (const double counts : {1.0, 10.0, 100.0}) {
    const AnyPrior log_gaussian(LogGaussian(1, 0.9, 0.3));
    show("log-gaussian", log_gaussian, counts, length, 12);
    show("log-gaussian, uncorrected", log_gaussian, counts, length, 0);
    show("gamma", AnyPrior(GammaPrior(1, 2, 0.8)), counts, length, 12);
    show("independent", AnyPrior(IndependentPrior(1, 2)), counts, length, 12);
  }
}
