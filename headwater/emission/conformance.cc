#include "headwater/conformance.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "headwater/emission.hpp"
#include "headwater/emission/plain_sums.hpp"
#include "headwater/emission/statistics.hpp"
#include "headwater/error.hpp"

namespace headwater {

namespace {

using Findings = std::vector<std::string>;

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
// Of the intensities that single cells are tried at.
constexpr double kLevels[] = {0.4, 1, 3.5, 30};
// Beyond this a hurdle is passed so often that draws do not show zeros.
constexpr double kMostBeforeAHurdle = 5;
constexpr double kCounts[] = {0, 1, 4, 25};
// By which two ways to compute the same number may differ, relative to the numbers in it.
constexpr double kRounding = 1e-9;
// A numerical derivative has its own error.
constexpr double kDerivative = 1e-5;
constexpr Index kObservations = 30;
constexpr Index kComponents = 2;

bool agree(double a, double b, double tolerance) {
  if (a == b) return true;
  return std::abs(a - b) <= tolerance * (1 + std::abs(a) + std::abs(b));
}

// How many standard errors one of `comparisons` means may be off: with a normal law the chance that
// any is off by more is at most alarm_rate; half as much again is for the skewness of squares.
double most_errors(double alarm_rate, int comparisons) {
  return 1.5 * std::sqrt(2 * std::log(2 * comparisons / alarm_rate));
}

// The log-density of one cell, from an observation that has no other.
double log_density(const AnyLaw& law, Index num_channels, Index channel, double count,
                   double exposure, double intensity) {
  std::vector<double> counts(static_cast<std::size_t>(num_channels), kMissing);
  std::vector<double> exposures(counts.size(), 1);
  counts[static_cast<std::size_t>(channel)] = count;
  exposures[static_cast<std::size_t>(channel)] = exposure;
  const Observation y(counts, exposures);
  Matrix basis = Matrix::Ones(num_channels, 1);
  basis(channel, 0) = intensity;
  const Emission emission(basis, law);
  Evidence evidence;
  emission.look_at(y, evidence);
  evidence.gather_rows();
  double value = 0;
  evidence.log_likelihoods(Matrix::Ones(1, 1), {&value, 1});
  return value + emission.log_base_measure(y);
}

void check_slopes(const AnyLaw& law, Index num_channels, Findings& out) {
  for (const double level : kLevels) {
    for (const double count : kCounts) {
      for (const double exposure : {1.0, 0.5}) {
        const CellForces forces = law->cell_forces(0, count, exposure, level);
        if (!(forces.gain >= 0 && forces.loss >= 0)) {
          out.push_back(fmt::format("gain or loss of count {} at mean {} is negative", count,
                                    exposure * level));
        }
        const double step = 1e-6 * level;
        const auto at = [&](double lambda) {
          return log_density(law, num_channels, 0, count, exposure, lambda);
        };
        const double slope = (at(level + step) - at(level - step)) / (2 * step);
        if (!agree(slope, forces.gain - forces.loss, kDerivative * (1 + std::abs(at(level))))) {
          out.push_back(fmt::format(
              "gain - loss of count {} at mean {} is {}; the derivative of log_density is {}",
              count, exposure * level, forces.gain - forces.loss, slope));
        }
      }
    }
  }
}

struct Mean {
  double sum = 0;
  double squares = 0;
  void add(double value) {
    sum += value;
    squares += value * value;
  }
  double mean(int n) const { return sum / n; }
  double error(int n) const {
    return std::sqrt(std::max(0.0, squares / n - mean(n) * mean(n)) / n);
  }
};

void check_draws(const AnyLaw& law, const ConformanceOptions& options, Findings& out) {
  const int n = options.num_draws;
  const int comparisons = 3 * static_cast<int>(std::size(kLevels));
  const double errors = most_errors(options.alarm_rate, comparisons);
  const RandomStream random(options.seed);
  std::uint64_t time = 0;
  for (const double level : kLevels) {
    Generator generator = random.at(++time, 0, Purpose::observation);
    const VarianceFunction v = law->variance(0);
    if (v.has_hurdle() && level > kMostBeforeAHurdle) continue;
    const double expected = v.mean_count(level);
    Mean mean;
    Mean square;
    Mean information;
    for (int i = 0; i < n; ++i) {
      const double y = law->draw(0, level, generator);
      const CellForces forces = law->cell_forces(0, y, 1, level);
      mean.add(y);
      square.add((y - expected) * (y - expected));
      information.add((forces.gain - forces.loss) * (forces.gain - forces.loss));
    }
    double expected_information = 0;
    law->information(0, {&level, 1}, {&expected_information, 1});
    const auto compare = [&](const char* what, const Mean& found, double wanted) {
      const double tolerance = errors * found.error(n) + kRounding * std::abs(wanted);
      if (std::abs(found.mean(n) - wanted) <= tolerance) return;
      out.push_back(fmt::format("the {} of draws at mean {} is {}; expected {}", what, level,
                                found.mean(n), wanted));
    };
    compare("mean", mean, expected);
    compare("variance", square, v.variance_of_count(level));
    compare("information", information, expected_information);
  }
}

// Observations drawn from the law, with missing cells and exposures.
struct Sample {
  Sample(const AnyLaw& law, Index num_channels, std::uint64_t seed)
      : emission(made_basis(num_channels), law), activations(kObservations, kComponents) {
    const RandomStream random(seed);
    for (Index t = 0; t < kObservations; ++t) {
      Generator generator = random.at(static_cast<std::uint64_t>(t + 1), 1, Purpose::observation);
      for (Index k = 0; k < kComponents; ++k) activations(t, k) = 0.2 + 2 * generator.uniform();
      std::vector<double> counts(static_cast<std::size_t>(num_channels));
      std::vector<double> exposures(counts.size(), 1);
      for (Index m = 0; m < num_channels; ++m) {
        const auto at = static_cast<std::size_t>(m);
        if (t % 2 == 1 && (t + m) % 3 == 0) exposures[at] = 0.5 + generator.uniform();
        const double mean = exposures[at] * emission.basis().row(m).dot(activations.row(t));
        counts[at] = (t + m) % 7 == 0 ? kMissing : law->draw(m, mean, generator);
      }
      observations.emplace_back(counts, t % 2 == 0 ? std::span<const double>() : exposures);
    }
  }
  static Matrix made_basis(Index num_channels) {
    Matrix basis(num_channels, kComponents);
    for (Index m = 0; m < num_channels; ++m) {
      basis(m, 0) = 0.5 + static_cast<double>(m % 4);
      basis(m, 1) = 3.0 / (1 + static_cast<double>(m % 3));
    }
    return basis;
  }
  double log_likelihood(const Emission& under) const {
    double sum = 0;
    Evidence evidence;
    for (Index t = 0; t < kObservations; ++t) {
      const Observation& y = observations[static_cast<std::size_t>(t)];
      under.look_at(y, evidence);
      evidence.gather_rows();
      double value = 0;
      evidence.log_likelihoods(activations.row(t), {&value, 1});
      sum += value + under.log_base_measure(y);
    }
    return sum;
  }
  Statistics statistics() const {
    Statistics sums(emission.num_channels(), kComponents, 0,
                    emission.law()->num_statistics(emission.num_channels()));
    const auto adder = emission.law()->sums();
    const Vector one = Vector::Ones(1);
    for (Index t = 0; t < kObservations; ++t) {
      adder->add_one(activations.row(t), emission, one, observations[static_cast<std::size_t>(t)],
                     sums);
    }
    return sums;
  }

  Emission emission;
  Matrix activations;
  std::vector<Observation> observations;
};

// What an engine asks of one observation, beside what the cells say.
void check_blocks(const Sample& sample, const Observation& y, Findings& out) {
  const Emission& emission = sample.emission;
  const AnyLaw& law = emission.law();
  const Matrix& basis = emission.basis();
  const Matrix x = sample.activations.topRows(4);
  Evidence evidence;
  emission.look_at(y, evidence);
  evidence.gather_rows();
  Vector values(x.rows());
  evidence.log_likelihoods(x, as_span(values));
  const auto states = law->state_likelihoods(x);
  states->set_emission(emission);
  Vector by_states(x.rows());
  states->log_likelihoods(y, by_states);
  Vector padded = Vector::Zero(emission.rows().stride());
  for (Index i = 0; i < x.rows(); ++i) {
    double expected = 0;
    Vector slope = Vector::Zero(kComponents);
    for_each_seen(y, [&](Index m, double count, double exposure) {
      const double intensity = basis.row(m).dot(x.row(i));
      expected += log_density(law, basis.rows(), m, count, exposure, intensity);
      const CellForces forces = law->cell_forces(m, count, exposure, intensity);
      slope += (forces.gain - forces.loss) * basis.row(m).transpose();
    });
    const double base = emission.log_base_measure(y);
    const auto compare = [&](const char* what, double found, double wanted) {
      if (agree(found, wanted, kRounding)) return;
      out.push_back(fmt::format("{} is {}; its cells give {}", what, found, wanted));
    };
    compare("log_likelihoods() of a block", values[i] + base, expected);
    compare("log_likelihoods() of states", by_states[i] + base, expected);

    const Vector intensities = evidence.rows() * x.row(i).transpose();
    const double linear = evidence.total().dot(x.row(i));
    compare("value()", evidence.value(as_span(intensities)) - linear + base, expected);
    Forces forces;
    evidence.forces(as_span(intensities), forces);
    PointForces point;
    padded.head(kComponents) = x.row(i).transpose();
    law->climb(evidence, emission.rows(), as_span(padded), point);
    const double settled = law->settle(evidence, emission.rows(), as_span(padded), point);
    compare("settle()", settled - linear + base, expected);
    for (Index k = 0; k < kComponents; ++k) {
      double by_forces = -evidence.total()[k];
      for (Index j = 0; j < intensities.size(); ++j) {
        const double loss = forces.losses.empty() ? 0 : forces.losses[static_cast<std::size_t>(j)];
        by_forces += (forces.gains[static_cast<std::size_t>(j)] - loss) * evidence.rows()(j, k);
      }
      const auto at = static_cast<std::size_t>(k);
      const double loss_slope = point.loss_slopes.empty() ? 0 : point.loss_slopes[at];
      compare("the slope by forces()", by_forces, slope[k]);
      compare("the slope by climb()", point.gain_slopes[at] - loss_slope - evidence.total()[k],
              slope[k]);
    }
  }
}

void check_sums(const Sample& sample, Findings& out) {
  const Statistics found = sample.statistics();
  Statistics expected(sample.emission.num_channels(), kComponents, 0, found.s4.size());
  PlainSums plain;
  const Vector one = Vector::Ones(1);
  for (Index t = 0; t < kObservations; ++t) {
    plain.add_one(sample.activations.row(t), sample.emission, one,
                  sample.observations[static_cast<std::size_t>(t)], expected);
  }
  const auto differ = [](const auto& a, const auto& b) {
    return a.size() != b.size() || (a.size() > 0 && !((a - b).cwiseAbs().maxCoeff() <=
                                                      kRounding * (1 + b.cwiseAbs().maxCoeff())));
  };
  if (differ(found.s1, expected.s1) || differ(found.s2, expected.s2) ||
      differ(found.unseen, expected.unseen) || differ(found.s4, expected.s4)) {
    out.emplace_back("the sums of the M-step are not those of its cells");
  }
}

void check_update(const Sample& sample, Findings& out) {
  const Statistics sums = sample.statistics();
  Matrix basis = sample.emission.basis();
  for (Index k = 0; k < kComponents; ++k) {
    for (Index m = 0; m < basis.rows(); ++m) {
      if (sums.exposure(m, k) > 0) basis(m, k) = sums.s2(m, k) / sums.exposure(m, k);
    }
  }
  const double before = sample.log_likelihood(sample.emission);
  const double after = sample.log_likelihood(Emission(basis, sample.emission.law()));
  if (!(after >= before - kRounding * (1 + std::abs(before)))) {
    out.push_back(fmt::format("the update of the basis lowers the log-likelihood from {} to {}",
                              before, after));
  }
}

// Statistics of cells are weighted: twice the weight adds twice as much.
void check_weights(const Sample& sample, Findings& out) {
  const AnyLaw& law = sample.emission.law();
  const Index size = law->num_statistics(sample.emission.num_channels());
  Vector once = Vector::Zero(size);
  Vector twice = Vector::Zero(size);
  for (const double level : kLevels) {
    law->add_statistics(0, 4, 1, level, 0.25, as_span(once));
    law->add_statistics(0, 4, 1, level, 0.5, as_span(twice));
  }
  if (size > 0 && !((twice - 2 * once).cwiseAbs().maxCoeff() <=
                    kRounding * (1 + twice.cwiseAbs().maxCoeff()))) {
    out.emplace_back("add_statistics() does not add in proportion to the weight");
  }
}

void check_parameters(const Sample& sample, Findings& out) {
  AnyLaw law = sample.emission.law();
  const Parameters parameters = law.parameters();
  try {
    law.set_parameter(scalar_parameter("no such parameter", 1));
    out.emplace_back("an unknown parameter is not refused");
  } catch (const UsageError&) {
  }
  for (const Parameter& parameter : parameters) {
    law.set_parameter(parameter);
    const Parameters now = law.parameters();
    const Parameter* const again = find_parameter(now, parameter.name);
    if (again == nullptr || again->value != parameter.value) {
      out.push_back(fmt::format("parameter '{}' cannot be set back", parameter.name));
    }
  }
}

void check_m_step(const Sample& sample, Findings& out) {
  const AnyLaw& law = sample.emission.law();
  const Parameters parameters = law.parameters();
  if (parameters.empty()) return;
  const Statistics sums = sample.statistics();
  // The statistics are `share` of the sums over the observations.
  const auto maximised = [&](const Vector& statistics, const Held& held, double share = 1) {
    AnyLaw at = law;
    at.maximise(as_span(statistics), 1 / share, held);
    return at;
  };
  // The parameters of `found` must be these, up to rounding or (0) to the last bit.
  const auto expect = [&](const AnyLaw& found, const AnyLaw& expected, double rounding,
                          const char* otherwise) {
    const Parameters now = found.parameters();
    for (const Parameter& parameter : expected.parameters()) {
      const Matrix& value = find_parameter(now, parameter.name)->value;
      const double most = rounding * (1 + parameter.value.cwiseAbs().maxCoeff());
      if ((value - parameter.value).cwiseAbs().maxCoeff() <= most) continue;
      out.push_back(fmt::format("parameter '{}' {}", parameter.name, otherwise));
    }
  };
  Held held;
  for (const Parameter& parameter : parameters) held.parameters.push_back(parameter.name);
  expect(maximised(sums.s4, held), law, 0, "is held, and the M-step moves it");
  expect(maximised(Vector::Zero(sums.s4.size()), {}), law, 0,
         "is moved by an M-step without any evidence: its statistics are zero");
  const AnyLaw best = maximised(sums.s4, {});
  expect(maximised(3 * sums.s4, {}, 3), best, kRounding,
         "changes if all statistics are multiplied by the same number");
  // As if each observation had been seen a million times: weak priors have no say then.
  const AnyLaw likeliest = maximised(sums.s4, {}, 1e-6);
  const double before = sample.log_likelihood(sample.emission);
  const double after = sample.log_likelihood(Emission(sample.emission.basis(), likeliest));
  if (!(after >= before - kRounding * (1 + std::abs(before)))) {
    out.push_back(fmt::format("the M-step lowers the log-likelihood from {} to {}", before, after));
  }
}

}  // namespace

ConformanceReport check_emission(const AnyLaw& law, const ConformanceOptions& options,
                                 Index num_channels) {
  ConformanceReport report;
  if (law->name().empty()) report.findings.emplace_back("the law has no name");
  check_slopes(law, num_channels, report.findings);
  check_draws(law, options, report.findings);
  const Sample sample(law, num_channels, options.seed);
  for (const Observation& y : sample.observations) check_blocks(sample, y, report.findings);
  check_sums(sample, report.findings);
  check_update(sample, report.findings);
  check_weights(sample, report.findings);
  check_parameters(sample, report.findings);
  check_m_step(sample, report.findings);
  return report;
}

}  // namespace headwater
