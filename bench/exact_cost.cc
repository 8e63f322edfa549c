// The cost of one observation with the exact engine as the number of components grows, M = 100: the
// adjoint window (as the command runs it, M-steps included), the forward recursion with
// butterflies, and the dense O(4^K) recursion. Ratios compare times of one run.
//   Usage: bench_exact_cost [LARGEST K]

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <vector>

#include "headwater/models/basis_selection.hpp"
#include "headwater/reference/dense_recursion.hpp"
#include "headwater/reference/streams.hpp"
#include "headwater/session.hpp"
#include "headwater/simulate.hpp"

using namespace headwater;

namespace {

constexpr Index kChannels = 100;
constexpr double kNotMeasured = std::numeric_limits<double>::quiet_NaN();

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Problem {
  AnyPrior prior;
  Matrix basis;
  Matrix record;
};

Problem problem(Index components, Index length) {
  const AnyPrior prior(BasisSelection(components, 0.8571, 0.6926));
  const Matrix basis = random_basis(kChannels, components, 2, 1);
  return {prior, basis, reference::simulate_record(prior, basis, length, 1)};
}

double time_of_session(const Problem& p, SmootherKind smoother, Index length) {
  Config config;
  config.num_components = p.basis.cols();
  config.initial_basis = p.basis;
  config.smoother = smoother;
  Session session(config, p.prior);
  const Index settled = length / 2;
  for (Index t = 0; t < settled; ++t) session.update(as_span(p.record.col(t)));
  const double total = seconds([&] {
    for (Index t = settled; t < length; ++t) session.update(as_span(p.record.col(t)));
  });
  return total / static_cast<double>(length - settled);
}

double time_of_dense(const Problem& p, Index length) {
  const FiniteChain chain = p.prior.finite_chain();
  reference::DenseRecursion recursion(chain, chain.joint_states(), p.basis);
  recursion.step(as_span(p.record.col(0)), 1);
  const double total = seconds([&] {
    for (Index t = 1; t <= length; ++t) recursion.step(as_span(p.record.col(t)), 0.1);
  });
  return total / static_cast<double>(length);
}

std::string cell(double value, const char* unit) {
  return std::isnan(value) ? std::string(12, ' ') : fmt::format("{:10.4g} {}", value, unit);
}

}  // namespace

int main(int argc, char** argv) {
  const Index largest = argc > 1 ? std::atol(argv[1]) : 12;
  fmt::print("Cost of an observation, exact engine, M = {}, paper's p and q\n\n", kChannels);
  fmt::print("{:>2} {:>12} {:>8} {:>12} {:>8} {:>12} {:>8} {:>12}\n", "K", "window", "growth",
             "forward", "growth", "dense", "growth", "dense/window");
  double before[3] = {kNotMeasured, kNotMeasured, kNotMeasured};
  for (Index k = 6; k <= largest; ++k) {
    const Index length = std::max<Index>(4096, (Index{1} << 20) >> k);
    const Problem p = problem(k, length);
    const double now[3] = {
        1e6 * time_of_session(p, SmootherKind::kLag, length),
        k <= 10 ? 1e6 * time_of_session(p, SmootherKind::kForward, 12) : kNotMeasured,
        k <= 10 ? 1e6 * time_of_dense(p, std::max<Index>(2, Index{1} << (2 * (10 - k))))
                : kNotMeasured};
    fmt::print("{:>2}", k);
    for (int i = 0; i < 3; ++i) {
      fmt::print(" {} {}", cell(now[i], "us"),
                 std::isnan(now[i] / before[i]) ? std::string(7, ' ')
                                                : fmt::format("{:7.2f}", now[i] / before[i]));
      before[i] = now[i];
    }
    fmt::print(" {:>12}\n", std::isnan(now[2]) ? "" : fmt::format("{:.0f}x", now[2] / now[0]));
    std::fflush(stdout);
  }
}
