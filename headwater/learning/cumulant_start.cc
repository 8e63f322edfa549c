#include "headwater/learning/cumulant_start.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <vector>

#include "headwater/random.hpp"

namespace headwater {

namespace {

constexpr double kSmallestShare = 0.02;  // of the largest entry of a column
constexpr Index kMoreDirections = 10;    // than eigenpairs are wanted: for a faster convergence
constexpr int kPowerSteps = 30;
constexpr int kMostSweeps = 100;
constexpr double kSmallestAngle = 1e-10;

// Deviations from the mean, over the share of the observations in which a channel is seen: zero
// where it is not, and so of the same moments as if all were seen, but for those that have a
// channel more than once.
struct Centred {
  Matrix deviations;  // M x n
  Vector mean;
  Vector gaps;   // the shares unseen
  Vector noise;  // the variance of each channel's counts around their intensity, on average
  double n;      // observations with anything seen
  // With Ď for the deviations and g for the gaps, the diagonal of Ď Ď' / n is 1 / (1 - g) times
  // the variance, and so g E[Ď_m^2] + noise too large for that of S.
  Vector excess;
  std::vector<VarianceFunction> laws;  // of each channel

  // S times a matrix.
  Matrix covariance_of_intensities(const Matrix& x) const {
    return deviations * (deviations.transpose() * x) / n - excess.asDiagonal() * x;
  }
};

double count_observations_seen(const Eigen::Ref<const Matrix>& observations) {
  double seen = 0;
  for (Index t = 0; t < observations.cols(); ++t) {
    seen += observations.col(t).array().isNaN().all() ? 0 : 1;
  }
  return seen;
}

// E[v(lambda)] for v(lambda) = constant + linear lambda + quadratic lambda^2, from the mean and the
// variance of the counts: var(y) = E[v] + var(lambda) and E[lambda^2] = var(lambda) + mean^2.
double mean_noise(const VarianceFunction& v, double mean, double variance) {
  const double at_mean = v.constant + v.linear * mean + v.quadratic * mean * mean;
  const double intensity_variance = std::max(0.0, (variance - at_mean) / (1 + v.quadratic));
  return at_mean + v.quadratic * intensity_variance;
}

Centred centre(const Eigen::Ref<const Matrix>& observations, const AnyLaw& law) {
  const Index num_channels = observations.rows();
  Centred y{Matrix::Zero(num_channels, observations.cols()),
            Vector::Zero(num_channels),
            Vector::Zero(num_channels),
            Vector::Zero(num_channels),
            count_observations_seen(observations),
            {},
            {}};
  for (Index m = 0; m < num_channels; ++m) y.laws.push_back(law->variance(m));
  for (Index m = 0; m < num_channels; ++m) {
    const auto is_seen = observations.row(m).array().isFinite();
    const auto seen = static_cast<double>(is_seen.count());
    if (seen == 0) continue;
    y.mean[m] = is_seen.select(observations.row(m), 0).sum() / seen;
    y.gaps[m] = 1 - seen / y.n;
    y.deviations.row(m) =
        is_seen.select((observations.row(m).array() - y.mean[m]) * (y.n / seen), 0);
    const double variance = y.deviations.row(m).squaredNorm() * seen / (y.n * y.n);
    y.noise[m] = mean_noise(y.laws[static_cast<std::size_t>(m)], y.mean[m], variance);
  }
  y.excess = y.gaps.cwiseProduct(y.deviations.rowwise().squaredNorm()) / y.n + y.noise;
  return y;
}

struct Eigenpairs {
  Vector values;  // from the largest on
  Matrix vectors;
};

Matrix random_directions(Index rows, Index columns) {
  Generator generator = RandomStream(0).at(0, 0, Purpose::restart);
  Matrix directions(rows, columns);
  for (Index i = 0; i < directions.size(); ++i) directions(i) = normal(generator);
  return directions;
}

Matrix orthonormalised(const Matrix& columns) {
  return columns.householderQr().householderQ() * Matrix::Identity(columns.rows(), columns.cols());
}

// The largest eigenvalues of S by powers of a subspace, without S itself, which would be M x M.
// Channels are measured in the standard deviation of their noise: S in these units has no
// eigenvalue below -1, and so S + 1/2 has its largest absolute ones where those of S are largest.
Eigenpairs largest_eigenpairs(const Centred& y, const Vector& noise, Index count) {
  const Vector per_noise = (noise.array() > 0).select(noise.cwiseInverse(), 0);
  const auto times_s = [&](const Matrix& x) -> Matrix {
    return per_noise.asDiagonal() * y.covariance_of_intensities(per_noise.asDiagonal() * x);
  };
  const Index num_channels = noise.size();
  const Index directions = std::min(num_channels, count + kMoreDirections);
  Matrix q = orthonormalised(random_directions(num_channels, directions));
  for (int i = 0; i < kPowerSteps && directions < num_channels; ++i) {
    q = orthonormalised(times_s(q) + q / 2);
  }
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(q.transpose() * times_s(q));
  const Index kept = std::min(count, directions);
  return {solver.eigenvalues().reverse().head(kept),
          q * solver.eigenvectors().rowwise().reverse().leftCols(kept)};
}

// Noise alone shows eigenvalues up to 2 sqrt(M / n) + M / n, the edge of its spectrum
// [MarchenkoPastur1967], give or take a little. One that chance lifts above it costs less than a
// weak component that a wider margin would leave out.
Index count_above_noise(const Vector& eigenvalues, double num_channels, double n) {
  const double ratio = num_channels / n;
  return (eigenvalues.array() > 2 * std::sqrt(ratio) + ratio).count();
}

// The third cumulant k of the intensities of one channel, from that of its counts. Given lambda, a
// count has variance v(lambda) = c + l lambda + q lambda^2 and third cumulant v v' (as counts of
// the Poisson and of the negative binomial law have), and so the counts have
//   k + 3 cov(lambda, v) + E[v v'],
// where cov(lambda, v) = l s + q (k + 2 mean s) and E[lambda^3] = k + 3 mean s + mean^3, with s for
// the variance of lambda.
double third_of_intensity(const VarianceFunction& v, double mean, double s, double of_counts) {
  const double c = v.constant;
  const double l = v.linear;
  const double q = v.quadratic;
  const double squared = s + mean * mean;
  const double of_noise = c * l + (l * l + 2 * c * q) * mean + 3 * l * q * squared +
                          2 * q * q * (3 * mean * s + mean * mean * mean);
  return (of_counts - 3 * (l + 2 * q * mean) * s - of_noise) / ((1 + q) * (1 + 2 * q));
}

// The third cumulant of W lambda, K slices of K x K. Where a channel m comes twice in a cumulant
// k(y_m, y_m, y_j) of the counts, it is (1 + q) k(lambda_m, lambda_m, lambda_j) + (l + 2 q mean_m)
// S_mj: h_mj is what that has too much. Where it comes three times, h_mm has been taken off three
// times, and e_m puts right what is wrong then. With z = W (y - mean),
//   T_abc = E[z_a z_b z_c] - sum_m (h W')_ma W_bm W_cm - ... - ... + sum_m e_m W_am W_bm W_cm.
// Gaps g inflate E[Ď_m Ď_m Ď_c] by 1 / (1 - g_m) and E[Ď_m^3] by its square.
std::vector<Matrix> third_cumulant(const Centred& y, const Matrix& w) {
  const Matrix z = w * y.deviations;
  const Matrix squares = y.deviations.cwiseAbs2();
  const Matrix with_squares = z * squares.transpose() / y.n;  // E[z_a Ď_m^2]
  const Vector cubes = y.deviations.array().cube().rowwise().sum() / y.n;
  const Vector variances = squares.rowwise().sum() / y.n - y.excess;
  Matrix h = y.covariance_of_intensities(w.transpose()).transpose();
  Vector e(y.mean.size());
  for (Index m = 0; m < e.size(); ++m) {
    const VarianceFunction& v = y.laws[static_cast<std::size_t>(m)];
    const double seen = 1 - y.gaps[m];
    const double of_squares = v.quadratic * seen / (1 + v.quadratic) + y.gaps[m];
    const double of_covariance = (v.linear + 2 * v.quadratic * y.mean[m]) / (1 + v.quadratic);
    h.col(m) = of_covariance * h.col(m) + of_squares * with_squares.col(m);
    const double k = third_of_intensity(v, y.mean[m], variances[m], seen * seen * cubes[m]);
    e[m] = 3 * (of_covariance * variances[m] + of_squares * cubes[m]) - (cubes[m] - k);
  }
  std::vector<Matrix> slices;
  for (Index c = 0; c < w.rows(); ++c) {
    const Matrix twice = w * w.row(c).asDiagonal() * h.transpose();
    const Vector once = w.row(c).transpose().cwiseProduct(e) - h.row(c).transpose();
    slices.emplace_back(z * z.row(c).asDiagonal() * z.transpose() / y.n - twice -
                        twice.transpose() + w * once.asDiagonal() * w.transpose());
  }
  return slices;
}

// The angle by which columns p and q turn so that the off-diagonal entries (p, q) of all slices
// are least [CardosoSouloumiac1996].
double best_angle(const std::vector<Matrix>& slices, Index p, Index q) {
  double straight = 0;
  double across = 0;
  for (const Matrix& slice : slices) {
    const double difference = slice(p, p) - slice(q, q);
    const double sum = slice(p, q) + slice(q, p);
    straight += difference * difference - sum * sum;
    across += 2 * difference * sum;
  }
  return std::atan2(across, straight + std::hypot(straight, across)) / 2;
}

void turn_columns(Matrix& matrix, Index p, Index q, double cosine, double sine) {
  const Vector old = matrix.col(p);
  matrix.col(p) = cosine * old + sine * matrix.col(q);
  matrix.col(q) = cosine * matrix.col(q) - sine * old;
}

// The rotation that makes all slices as diagonal as can be, by Jacobi's rotations of two columns.
Matrix jointly_diagonalise(std::vector<Matrix> slices) {
  const Index size = static_cast<Index>(slices.size());
  Matrix rotation = Matrix::Identity(size, size);
  bool is_turning = true;
  for (int sweep = 0; is_turning && sweep < kMostSweeps; ++sweep) {
    is_turning = false;
    for (Index p = 0; p < size; ++p) {
      for (Index q = p + 1; q < size; ++q) {
        const double angle = best_angle(slices, p, q);
        if (!(std::abs(angle) > kSmallestAngle)) continue;
        is_turning = true;
        const double cosine = std::cos(angle);
        const double sine = std::sin(angle);
        turn_columns(rotation, p, q, cosine, sine);
        for (Matrix& slice : slices) {
          turn_columns(slice, p, q, cosine, sine);
          slice.transposeInPlace();
          turn_columns(slice, p, q, cosine, sine);
        }
      }
    }
  }
  return rotation;
}

// sd(x_k) b_k, in any order and of either sign.
Matrix scaled_columns(const Centred& y, Index num_components) {
  const Vector noise = y.noise.cwiseSqrt();
  const auto num_channels = static_cast<double>(noise.size());
  const Eigenpairs pairs = largest_eigenpairs(y, noise, num_components);
  if (!pairs.values.allFinite() || !pairs.vectors.allFinite()) return {noise.size(), 0};
  const Index found = count_above_noise(pairs.values, num_channels, y.n);
  const Vector roots = pairs.values.head(found).cwiseSqrt();
  const Matrix vectors = pairs.vectors.leftCols(found);
  const Vector per_noise = (noise.array() > 0).select(noise.cwiseInverse(), 0);
  const Matrix w = roots.cwiseInverse().asDiagonal() * vectors.transpose() * per_noise.asDiagonal();
  const Matrix rotation = jointly_diagonalise(third_cumulant(y, w));
  return noise.asDiagonal() * vectors * roots.asDiagonal() * rotation;
}

// The numbers 0, 1, ... in the order of the values, from the largest on.
std::vector<Index> descending_order(const Vector& values) {
  std::vector<Index> order(values.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return values[a] > values[b]; });
  return order;
}

// No entry below a small part of the column's largest, or, in a channel with next to no counts,
// its mean (with half a count more): a zero could never be left again.
Vector made_positive(const Vector& column, const Centred& y) {
  const Vector upright = column.sum() < 0 ? Vector(-column) : column;
  const Vector mean = (y.mean.array() * y.n + 0.5) / (y.n + 1);
  return upright.cwiseMax(mean.cwiseMin(kSmallestShare * upright.maxCoeff()));
}

}  // namespace

CumulantStart cumulant_start(const Eigen::Ref<const Matrix>& observations, const AnyLaw& law,
                             const Vector& variances, const Matrix& otherwise) {
  assert(otherwise.rows() == observations.rows() && otherwise.cols() == variances.size());
  CumulantStart start{otherwise, 0};
  if (observations.size() == 0 || variances.size() == 0) return start;
  const Centred y = centre(observations, law);
  if (!(y.mean.maxCoeff() > 0)) return start;
  const Matrix columns = scaled_columns(y, variances.size());
  if (!columns.allFinite()) return start;
  const std::vector<Index> components = descending_order(variances);
  for (const Index column : descending_order(columns.colwise().norm().transpose())) {
    const Index k = components[start.columns_found++];
    start.basis.col(k) = made_positive(columns.col(column), y) / std::sqrt(variances[k]);
  }
  return start;
}

}  // namespace headwater
