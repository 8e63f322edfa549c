#include "headwater/reference/grid_chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headwater/engines/exact_batch.hpp"
#include "headwater/error.hpp"
#include "headwater/models/gamma_prior.hpp"
#include "headwater/models/independent_prior.hpp"
#include "headwater/models/log_gaussian.hpp"
#include "headwater/models/relaxed_selection.hpp"
#include "headwater/reference/relaxed_grid.hpp"
#include "headwater/reference/statistical_tests.hpp"

namespace headwater::reference {

namespace {

// The probability that a grid omits at each end of the stationary distribution.
constexpr double kNegligibleMass = 1e-13;

double parameter_of(const AnyPrior& prior, const char* name, Index k) {
  const Parameters parameters = prior.parameters();
  const Matrix& value = find_parameter(parameters, name)->value;
  return value(value.size() == 1 ? 0 : k);
}

AnyPrior one_unscaled_component(const AnyPrior& prior, Index k) {
  const auto own = [&](const char* name) { return parameter_of(prior, name, k); };
  if (prior.name() == "log-gaussian") {
    return AnyPrior(LogGaussian(1, own("persistence"), own("noise")));
  }
  if (prior.name() == "gamma") return AnyPrior(GammaPrior(1, own("shape"), own("persistence")));
  if (prior.name() == "independent") return AnyPrior(IndependentPrior(1, own("shape")));
  if (prior.name() == "relaxed-selection") return AnyPrior(RelaxedSelection(1, own("alpha")));
  throw UsageError(fmt::format("no grid for prior '{}'", prior.name()));
}

AnyPrior one_component(const AnyPrior& prior, Index k) {
  AnyPrior component = one_unscaled_component(prior, k);
  if (prior.has_scale()) component.set_scale(prior.scale().segment(k, 1));
  return component;
}

// The borders 0, .., cells of equal cells on [low, high], or the midpoints between them.
Vector borders(double low, double high, Index cells) {
  return Vector::LinSpaced(cells + 1, low, high);
}
Vector middles(double low, double high, Index cells) {
  const double half = (high - low) / static_cast<double>(cells) / 2;
  return Vector::LinSpaced(cells, low + half, high - half);
}

// The cells of a prior with a smooth density.
struct SmoothCells {
  Vector states;
  Vector edges;
  Vector widths;
};

// The probability beyond eight standard deviations is negligible.
SmoothCells log_gaussian_cells(const AnyPrior& prior, Index cells) {
  const double persistence = parameter_of(prior, "persistence", 0);
  const double spread = parameter_of(prior, "noise", 0) / std::sqrt(1 - persistence * persistence);
  const double first = std::log(prior.scale()[0]) - 8 * spread;
  const double last = std::log(prior.scale()[0]) + 8 * spread;
  return {middles(first, last, cells), borders(first, last, cells).segment(1, cells - 1),
          Vector::Constant(cells, (last - first) / static_cast<double>(cells))};
}

double soft_plus(double v) { return v > 30 ? v : std::log1p(std::exp(v)); }
double logistic(double v) { return 1 / (1 + std::exp(-v)); }

// x = (unit log(1 + exp v))^2, v = u - (stretch - 1) log(1 + exp(-u - kStart)).
//
// For large x' the noise of sqrt(x) does not depend on x', and neither does that of the counts, so
// the grid should be even in sqrt(x). Near 0, v is log(x) / 2 up to a constant, and x^shape decays
// exponentially, slowly if the shape is small. Below u = -kStart, x is indistinguishable from 0 for
// the counts and for the next transition; there the coordinate is stretched so that the density
// decays as exp(4 u).
struct RootCoordinate {
  double unit;
  double stretch;
  static constexpr double kStart = 7;

  double bent(double u) const { return u - (stretch - 1) * soft_plus(-u - kStart); }
  double state(double u) const {
    const double root = unit * soft_plus(bent(u));
    return root * root;
  }
  double slope(double u) const {
    const double v = bent(u);
    return 2 * unit * unit * soft_plus(v) * logistic(v) *
           (1 + (stretch - 1) * logistic(-u - kStart));
  }
};

// The stationary distribution of both gamma priors, divided by the scale, is Gamma(shape, rate
// shape).
SmoothCells gamma_cells(double shape, double persistence, double scale, Index cells) {
  const double noise = std::sqrt((1 - persistence) / (2 * shape));
  const RootCoordinate root{std::min(noise, 0.2), std::max(1.0, 2 / shape)};
  double first = 0;
  while (root.state(first) > 0 && gamma_cdf(shape, shape * root.state(first)) > kNegligibleMass) {
    first -= 0.5;
  }
  double last = 0;
  while (gamma_tail(shape, shape * root.state(last)) > kNegligibleMass) last += 0.5;
  const double step = (last - first) / static_cast<double>(cells);
  const auto state = [&](double v) { return scale * root.state(v); };
  const auto width = [&](double v) { return scale * root.slope(v) * step; };
  return {middles(first, last, cells).unaryExpr(state),
          borders(first, last, cells).segment(1, cells - 1).unaryExpr(state),
          middles(first, last, cells).unaryExpr(width)};
}

Vector normalised_exp(const Vector& logs) {
  const Vector values = (logs.array() - logs.maxCoeff()).exp();
  return values / values.sum();
}

// These chains are reversible: pi(x) f(z | x) = pi(z) f(x | z), so pi can be computed from f.
Vector reversible_law(const AnyPrior& prior, const SmoothCells& cells) {
  const Index size = cells.states.size();
  const Matrix centre = cells.states.segment(size / 2, 1);
  Vector away(size);
  Vector back(size);
  prior.log_transition(centre, cells.states, away);
  prior.log_transition(cells.states, centre, back);
  return normalised_exp(away - back + cells.widths.array().log().matrix());
}

Matrix smooth_transition(const AnyPrior& prior, const SmoothCells& cells) {
  const Index size = cells.states.size();
  const Vector log_widths = cells.widths.array().log();
  Matrix transition(size, size);
  Vector row(size);
  for (Index i = 0; i < size; ++i) {
    prior.log_transition(cells.states.segment(i, 1), cells.states, row);
    transition.row(i) = normalised_exp(row + log_widths).transpose();
  }
  return transition;
}

// s3 of transitions between the states that represent the cells.
Matrix statistics_between(const AnyPrior& prior, const Vector& states) {
  const Index size = states.size();
  Matrix statistics(size * size, prior.num_statistics());
  const Vector weight = Vector::Ones(1);
  Vector one(prior.num_statistics());
  for (Index i = 0; i < size; ++i) {
    for (Index j = 0; j < size; ++j) {
      one.setZero();
      prior.add_statistics(states.segment(i, 1), states.segment(j, 1), weight, as_span(one));
      statistics.row(i * size + j) = one.transpose();
    }
  }
  return statistics;
}

void add_axis(const AnyPrior& prior, GridAxis axis, Vector initial, Matrix transition,
              GridChain& grid) {
  Matrix activations(axis.states.size(), 1);
  prior.activations(axis.states, activations);
  grid.chain.axes.push_back({std::move(activations), std::move(initial), std::move(transition)});
  grid.axes.push_back(std::move(axis));
}

void add_relaxed_axis(const AnyPrior& prior, Index cells, GridChain& grid) {
  const RelaxedGrid relaxed(parameter_of(prior, "alpha", 0), cells);
  GridAxis axis{relaxed.states(), relaxed.edges(), statistics_between(prior, relaxed.states())};
  // Transitions within one cell may be of both kinds.
  const Index size = relaxed.size();
  for (Index i = 0; i < size; ++i) {
    const double towards = relaxed.towards(i, i) / (relaxed.towards(i, i) + relaxed.away(i, i));
    axis.move_statistics.row(i * size + i) << towards, 1 - towards;
  }
  add_axis(prior, std::move(axis), relaxed.law(), relaxed.transition(), grid);
}

SmoothCells smooth_cells(const AnyPrior& prior, Index cells) {
  if (prior.name() == "log-gaussian") return log_gaussian_cells(prior, cells);
  const double persistence = prior.name() == "gamma" ? parameter_of(prior, "persistence", 0) : 0.0;
  return gamma_cells(parameter_of(prior, "shape", 0), persistence, prior.scale()[0], cells);
}

void add_smooth_axis(const AnyPrior& prior, Index count, GridChain& grid) {
  const SmoothCells cells = smooth_cells(prior, count);
  add_axis(prior, {cells.states, cells.edges, statistics_between(prior, cells.states)},
           reversible_law(prior, cells), smooth_transition(prior, cells), grid);
}

Vector prior_statistics(const GridChain& grid, const Vector& moves) {
  Vector s3(0);
  Index at = 0;
  for (const GridAxis& axis : grid.axes) {
    const Matrix& table = axis.move_statistics;
    s3.conservativeResize(s3.size() + table.cols());
    s3.tail(table.cols()) = table.transpose() * moves.segment(at, table.rows());
    at += table.rows();
  }
  return s3;
}

// Richardson extrapolation: (4 fine - coarse) / 3 cancels the error of second order if the cells of
// `fine` are half as wide.
void extrapolate(const GridTruth& coarse, GridTruth& fine) {
  const auto apply = [](auto& value, const auto& coarser) { value += (value - coarser) / 3; };
  apply(fine.log_likelihood, coarse.log_likelihood);
  apply(fine.log_predictive, coarse.log_predictive);
  apply(fine.filtered_means, coarse.filtered_means);
  apply(fine.smoothed_means, coarse.smoothed_means);
  apply(fine.statistics.s1, coarse.statistics.s1);
  apply(fine.statistics.s2, coarse.statistics.s2);
  apply(fine.statistics.s3, coarse.statistics.s3);
  apply(fine.statistics.unseen, coarse.statistics.unseen);
}

}  // namespace

Index GridAxis::cell_of(double state) const {
  return std::upper_bound(edges.begin(), edges.end(), state) - edges.begin();
}

GridChain make_grid_chain(const AnyPrior& prior, Index cells) {
  if (cells < 8 || cells % 2 != 0) {
    throw UsageError(fmt::format("{} cells; expected an even number, at least 8", cells));
  }
  GridChain grid;
  for (Index k = 0; k < prior.num_components(); ++k) {
    const AnyPrior component = one_component(prior, k);
    if (prior.name() == "relaxed-selection") {
      add_relaxed_axis(component, cells, grid);
    } else {
      add_smooth_axis(component, cells, grid);
    }
  }
  validate(grid.chain, "grid");
  return grid;
}

GridTruth truth_on_grid(const GridChain& grid, const Matrix& basis, const Matrix& observations) {
  ExactFilter filter(grid.chain, basis);
  const Record record(observations);
  ExactBatch batch(grid.chain, basis, record);
  GridTruth truth{batch.log_likelihood(), Vector(observations.cols()),
                  Matrix(observations.cols(), basis.cols()), batch.smoothed_activations(),
                  batch.statistics(true)};
  for (Index t = 0; t < observations.cols(); ++t) {
    truth.log_predictive[t] = filter.step(as_span(observations.col(t))).log_predictive;
    truth.filtered_means.row(t) = filter.filtered().transpose() * filter.states();
  }
  truth.statistics.s3 = prior_statistics(grid, truth.statistics.s3);
  return truth;
}

GridTruth truth_of(const AnyPrior& prior, const Matrix& basis, const Matrix& observations,
                   Index cells) {
  GridTruth truth = truth_on_grid(make_grid_chain(prior, cells), basis, observations);
  if (prior.name() == "relaxed-selection") {
    extrapolate(truth_on_grid(make_grid_chain(prior, cells / 2), basis, observations), truth);
  }
  return truth;
}

}  // namespace headwater::reference
