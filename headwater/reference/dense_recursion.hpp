#pragma once

#include "headwater/emission.hpp"
#include "headwater/emission/statistics.hpp"
#include "headwater/finite_chain.hpp"

namespace headwater::reference {

// Algorithm 1 with an exact filter, exactly as printed: T_1, C and T_3 for every state, updated
// with the backward kernel p(x_t-1 | x_t, y_1..t-1) as an n x n matrix. Each statistic costs O(4^K)
// per step.
class DenseRecursion {
 public:
  DenseRecursion(const FiniteChain& chain, Matrix states, Matrix basis, bool with_moves = true);

  void set_chain(const FiniteChain& chain);
  void set_basis(const Matrix& basis) { basis_ = basis; }

  double step(const Observation& y, double step_size);  // log p(y_t | y_1..t-1)
  const Vector& filtered() const { return filtered_; }
  const Statistics& statistics() const { return statistics_; }

 private:
  void carry_on(const Matrix& backward, double step_size);
  void read_out(const Observation& y, double step_size);
  // s2(x, y)(m, k), laid out channel by channel; n x M K.
  Matrix second_statistic(const Observation& y) const;
  Matrix moves_into(const Matrix& backward) const;

  Index num_moves_;
  std::vector<Index> sizes_;
  Matrix states_;
  Matrix basis_;
  Vector initial_;
  Matrix transition_;

  Index t_ = 0;
  Vector filtered_;
  Matrix t1_;  // n x K
  Matrix c_;   // n x M K
  Matrix t3_;  // n x moves
  Vector previous_observation_;
  double previous_step_size_ = 0;
  Statistics statistics_;
};

}  // namespace headwater::reference
