#include "headwater/reference/dense_recursion.hpp"

#include <cmath>

#include "headwater/reference/path_sums.hpp"

namespace headwater::reference {

DenseRecursion::DenseRecursion(const FiniteChain& chain, Matrix states, Matrix basis,
                               bool with_moves)
    : num_moves_(with_moves ? chain.num_moves() : 0),
      states_(std::move(states)),
      basis_(std::move(basis)),
      initial_(chain.joint_initial()),
      t1_(Matrix::Zero(states_.rows(), states_.cols())),
      c_(Matrix::Zero(states_.rows(), basis_.size())),
      t3_(Matrix::Zero(states_.rows(), num_moves_)),
      statistics_(basis_.rows(), basis_.cols(), num_moves_) {
  for (const FiniteAxis& axis : chain.axes) sizes_.push_back(axis.size());
  set_chain(chain);
}

void DenseRecursion::set_chain(const FiniteChain& chain) { transition_ = dense_transition(chain); }

double DenseRecursion::step(const Observation& y, double step_size) {
  const Index n = states_.rows();
  Vector predicted = initial_;
  if (++t_ > 1) {
    predicted = transition_.transpose() * filtered_;
    Matrix backward(n, n);  // row x: the distribution of the previous state, given that x follows
    for (Index x = 0; x < n; ++x) {
      for (Index before = 0; before < n; ++before) {
        backward(x, before) =
            predicted[x] > 0 ? filtered_[before] * transition_(before, x) / predicted[x] : 0;
      }
    }
    carry_on(backward, step_size);
  } else {
    t1_ = states_;
  }

  Vector counts(basis_.rows());
  y.write_counts(as_span(counts));
  Vector log_weight(n);
  for (Index x = 0; x < n; ++x) {
    const Vector intensity = basis_ * states_.row(x).transpose();
    log_weight[x] = std::log(predicted[x]) + log_poisson(counts, intensity);
  }
  const double largest = log_weight.maxCoeff();
  filtered_ = (log_weight.array() - largest).exp();
  const double sum = filtered_.sum();
  filtered_ /= sum;
  read_out(y, step_size);
  previous_observation_ = counts;
  previous_step_size_ = step_size;
  return largest + std::log(sum);
}

void DenseRecursion::carry_on(const Matrix& backward, double step_size) {
  t1_ = (1 - step_size) * (backward * t1_) + step_size * states_;
  if (num_moves_ > 0) {
    t3_ = (1 - step_size) * (backward * t3_) + step_size * moves_into(backward);
  }
  c_ += previous_step_size_ * second_statistic(as_span(previous_observation_));
  c_ = (1 - step_size) * (backward * c_);
}

Matrix DenseRecursion::second_statistic(const Observation& y) const {
  Matrix s2 = Matrix::Zero(states_.rows(), basis_.size());
  Vector counts(basis_.rows());
  y.write_counts(as_span(counts));
  for (Index x = 0; x < states_.rows(); ++x) {
    const Vector intensity = basis_ * states_.row(x).transpose();
    for (Index m = 0; m < basis_.rows(); ++m) {
      if (!(counts[m] > 0 && intensity[m] > 0)) continue;
      for (Index k = 0; k < basis_.cols(); ++k) {
        s2(x, m * basis_.cols() + k) = basis_(m, k) * counts[m] * states_(x, k) / intensity[m];
      }
    }
  }
  return s2;
}

Matrix DenseRecursion::moves_into(const Matrix& backward) const {
  Matrix moves = Matrix::Zero(states_.rows(), num_moves_);
  for (Index x = 0; x < states_.rows(); ++x) {
    for (Index before = 0; before < states_.rows(); ++before) {
      Index at = 0;
      Index stride = 1;
      for (const Index size : sizes_) {
        moves(x, at + before / stride % size * size + x / stride % size) += backward(x, before);
        at += size * size;
        stride *= size;
      }
    }
  }
  return moves;
}

void DenseRecursion::read_out(const Observation& y, double step_size) {
  statistics_.s1 = t1_.transpose() * filtered_;
  statistics_.s3 = t3_.transpose() * filtered_;
  const Vector s2 = (c_ + step_size * second_statistic(y)).transpose() * filtered_;
  statistics_.s2 = Eigen::Map<const RowMatrix>(s2.data(), basis_.rows(), basis_.cols());
  statistics_.squared_weights *= (1 - step_size) * (1 - step_size);
  statistics_.count_observation(step_size);
}

}  // namespace headwater::reference
