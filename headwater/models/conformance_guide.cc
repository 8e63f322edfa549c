#include <fmt/format.h>

#include <cmath>

#include "headwater/emission.hpp"
#include "headwater/models/conformance_checks.hpp"

namespace headwater::conformance {

namespace {

// The largest accepted difference in standard errors; chance exceeds it with probability 2e-9.
constexpr double kMostErrors = 6;
constexpr double kRounding = 1e-9;

struct Mean {
  double value;
  double error;  // standard error
};

Mean mean_of(const Vector& values) {
  const auto n = static_cast<double>(values.size());
  const double mean = values.mean();
  return {mean, std::sqrt((values.array() - mean).square().sum() / n / n)};
}

// The mean with weights that are random themselves (a ratio estimate).
Mean weighted_mean_of(const Vector& values, const Vector& weights) {
  const double sum = weights.sum();
  const double mean = weights.dot(values) / sum;
  return {mean, (weights.array() * (values.array() - mean)).matrix().norm() / sum};
}

bool agree(const Mean& a, const Mean& b) {
  return std::abs(a.value - b.value) <= kMostErrors * std::hypot(a.error, b.error) + kRounding;
}

// A made-up observation of three channels that every component reaches.
struct SomeObservation {
  explicit SomeObservation(Index components)
      : emission(basis_of(components)),
        y(std::vector<double>{1, 3 * static_cast<double>(components), 0}) {
    emission.look_at(y, evidence);
    evidence.gather_rows();
  }
  static Matrix basis_of(Index components) {
    Matrix basis(3, components);
    for (Index k = 0; k < components; ++k) {
      basis.col(k) << 1, 2 + static_cast<double>(k), 0.5 + static_cast<double>(k % 2);
    }
    return basis;
  }

  Emission emission;
  Observation y;
  Evidence evidence;
};

// Activations mapped to a bounded range, so that all moments exist.
Matrix bounded(const AnyPrior& prior, const Matrix& states) {
  const Matrix x = activations_of(prior, states);
  return x.array() / (1 + x.array());
}

// parent: one row, or none for the first state. Compares the guide's results with the prior's own
// draws, weighted by the guide's function.
void check_moves(const AnyPrior& prior, const Guide& guide, const Matrix& parent,
                 const ConformanceOptions& options, Findings& out) {
  const Index n = options.num_draws;
  const RandomStream random(options.seed);
  const Matrix parents = parent.replicate(n, 1);
  const bool is_first = parent.rows() == 0;
  const char* const where = is_first ? "the first state" : "a move";

  Matrix drawn(n, prior.state_size());
  const RandomBlock by_prior{random, 101, 0, Purpose::transition};
  if (is_first) {
    prior.sample_initial(by_prior, drawn);
  } else {
    prior.sample_transition(by_prior, parents, drawn);
  }
  Vector log_worth(1);
  guide.log_worths(parent, log_worth);
  Vector values(n);
  guide.log_values(drawn, values);
  values = (values.array() - log_worth[0]).exp();
  if (!agree(mean_of(values), {1, 0})) {
    out.push_back(fmt::format("the guide's log_worths() is not the integral of {}", where));
    return;
  }

  Matrix guided(n, prior.state_size());
  guide.draw({random, 102, 0, Purpose::transition}, parents, guided);
  Matrix near(n, prior.state_size());
  guide.draw_near({random, 103, 0, Purpose::transition}, parents, 0.5, guided, near);
  const Matrix x = bounded(prior, drawn);
  const Matrix a = bounded(prior, guided);
  const Matrix b = bounded(prior, near);
  for (Index k = 0; k < x.cols(); ++k) {
    const Mean truth = weighted_mean_of(x.col(k), values);
    if (!agree(mean_of(a.col(k)), truth)) {
      out.push_back(fmt::format("the guide's draw() of {} does not follow its function", where));
    }
    const Vector squares =
        a.col(k).cwiseAbs2().cwiseProduct(b.col(k)) - b.col(k).cwiseAbs2().cwiseProduct(a.col(k));
    if (!agree(mean_of(b.col(k)), truth) || !agree(mean_of(squares), {0, 0})) {
      out.push_back(fmt::format("the guide's draw_near() of {} is not reversible", where));
    }
  }
}

}  // namespace

void check_guide(const AnyPrior& prior, const ConformanceOptions& options, Findings& out) {
  if (!prior.is_guided()) return;
  const SomeObservation some(prior.num_components());
  const Matrix cloud = draw_states(prior, options, 1).topRows(50);
  const auto guide = prior.make_guide();
  for (const Index rows : {Index{0}, Index{1}}) {
    const Index cloud_rows = rows == 0 ? 0 : cloud.rows();
    const Vector weights = Vector::Constant(cloud.rows(), 1 / static_cast<double>(cloud.rows()));
    if (prior.guide(some.evidence, cloud.topRows(cloud_rows), weights.head(cloud_rows), *guide)) {
      check_moves(prior, *guide, cloud.topRows(rows), options, out);
    }
  }
}

}  // namespace headwater::conformance
