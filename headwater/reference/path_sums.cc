#include "headwater/reference/path_sums.hpp"

#include <cmath>
#include <limits>

namespace headwater::reference {

namespace {

struct Model {
  Vector initial;
  Matrix transition;
  Matrix likelihood;  // n x T: g(y_t | x)

  double probability(const std::vector<Index>& path) const {
    double p = initial[path[0]];
    for (std::size_t t = 0; t < path.size(); ++t) {
      if (t > 0) p *= transition(path[t - 1], path[t]);
      p *= likelihood(path[t], static_cast<Index>(t));
    }
    return p;
  }
};

void add_path_statistics(const FiniteChain& chain, const Matrix& states, const Matrix& basis,
                         const Matrix& observations, const std::vector<double>& coefficients,
                         const std::vector<Index>& path, double probability, Statistics& out) {
  for (std::size_t t = 0; t < path.size(); ++t) {
    const double weight = probability * coefficients[t];
    const Vector x = states.row(path[t]);
    out.s1 += weight * x;
    for (Index m = 0; m < basis.rows(); ++m) {
      const double y = observations(m, static_cast<Index>(t));
      if (std::isnan(y)) {
        if (out.unseen.size() == 0) out.unseen.setZero(basis.rows(), basis.cols());
        out.unseen.row(m) += weight * x.transpose();
      } else if (y > 0) {
        const double intensity = basis.row(m).dot(x);
        for (Index k = 0; k < basis.cols(); ++k) {
          out.s2(m, k) += weight * y * basis(m, k) * x[k] / intensity;
        }
      }
    }
    if (t == 0) continue;
    add_moves(chain, path[t - 1], path[t], weight, out.s3);
  }
}

}  // namespace

double log_poisson(const Eigen::Ref<const Vector>& y, const Vector& intensity) {
  double sum = 0;
  for (Index m = 0; m < y.size(); ++m) {
    if (std::isnan(y[m])) continue;
    if (intensity[m] == 0) {
      if (y[m] > 0) return -std::numeric_limits<double>::infinity();
      continue;
    }
    sum += y[m] * std::log(intensity[m]) - intensity[m] - std::lgamma(y[m] + 1);
  }
  return sum;
}

Matrix dense_transition(const FiniteChain& chain) {
  const Index n = chain.num_states();
  Matrix dense(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      double p = 1;
      Index stride = 1;
      for (const FiniteAxis& axis : chain.axes) {
        p *= axis.transition(i / stride % axis.size(), j / stride % axis.size());
        stride *= axis.size();
      }
      dense(i, j) = p;
    }
  }
  return dense;
}

void for_each_path(Index n, Index length,
                   const std::function<void(const std::vector<Index>&)>& visit) {
  std::vector<Index> path(length, 0);
  while (true) {
    visit(path);
    Index t = 0;
    while (t < length && ++path[t] == n) path[t++] = 0;
    if (t == length) return;
  }
}

void add_moves(const FiniteChain& chain, Index from, Index to, double weight, Vector& s3) {
  Index at = 0;
  Index stride = 1;
  for (const FiniteAxis& axis : chain.axes) {
    s3[at + from / stride % axis.size() * axis.size() + to / stride % axis.size()] += weight;
    at += axis.size() * axis.size();
    stride *= axis.size();
  }
}

PathSums sum_over_paths(const FiniteChain& chain, const Matrix& states, const Matrix& basis,
                        const Matrix& observations, const std::vector<double>& coefficients) {
  const Index n = states.rows();
  const Index length = observations.cols();
  Model model{chain.joint_initial(), dense_transition(chain), Matrix(n, length)};
  for (Index x = 0; x < n; ++x) {
    const Vector intensity = basis * states.row(x).transpose();
    for (Index t = 0; t < length; ++t) {
      model.likelihood(x, t) = std::exp(log_poisson(observations.col(t), intensity));
    }
  }

  PathSums sums{0, {}, {}, {}, Statistics(basis.rows(), basis.cols(), chain.num_moves())};
  double evidence = 1;
  for (Index t = 0; t < length; ++t) {
    Vector law = Vector::Zero(n);
    for_each_path(n, t + 1, [&](const std::vector<Index>& path) {
      law[path.back()] += model.probability(path);
    });
    sums.log_predictive.push_back(std::log(law.sum()) - std::log(evidence));
    evidence = law.sum();
    sums.filtered.push_back(law / evidence);
  }
  sums.log_likelihood = std::log(evidence);
  sums.smoothed.assign(length, Vector::Zero(n));
  for_each_path(n, length, [&](const std::vector<Index>& path) {
    const double posterior = model.probability(path) / evidence;
    if (posterior == 0) return;
    for (Index t = 0; t < length; ++t) sums.smoothed[t][path[t]] += posterior;
    add_path_statistics(chain, states, basis, observations, coefficients, path, posterior,
                        sums.statistics);
  });
  return sums;
}

}  // namespace headwater::reference
