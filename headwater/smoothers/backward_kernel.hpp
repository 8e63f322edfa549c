#pragma once

#include <memory>
#include <span>

#include "headwater/particle_choices.hpp"
#include "headwater/smoothers/particle_step.hpp"

namespace headwater {

// Where the particles of a step may have come from: R(i, j) is how much of particle i's past is
// particle j of the step before. The smoothers differ in nothing else.
class BackwardKernel {
 public:
  virtual ~BackwardKernel() = default;
  virtual std::unique_ptr<BackwardKernel> clone() const = 0;

  // Called when `step` has just been made and `before` is the one before it: time for random draws.
  virtual void prepare(const ParticleFilter& filter, const ParticleStep& before,
                       ParticleStep& step) = 0;

  // How many draws it makes for each particle.
  virtual Index num_draws() const { return 0; }

  // before_law(j) = sum_i law(i) R(i, j), and
  // s3 += coefficient sum_ij law(i) R(i, j) s3(x_j, x_i), if s3 is not empty.
  virtual void pull_back(const ParticleFilter& filter, const ParticleStep& before,
                         const ParticleStep& step, const Vector& law, double coefficient,
                         Vector& before_law, std::span<double> s3) = 0;
};

// Adds up the prior's statistics over chosen pairs of a particle and one of the step before.
class PairStatistics {
 public:
  void clear();
  void add(Index before, Index after, double weight);
  void sum(const AnyPrior& prior, const ParticleStep& before, const ParticleStep& step,
           std::span<double> s3);

 private:
  std::vector<Index> before_;
  std::vector<Index> after_;
  std::vector<double> weights_;
  Matrix before_states_;
  Matrix after_states_;
};

// The backward pass where each particle has so many particles of the step before drawn for it, one
// after another in `draws`.
class DrawnPast {
 public:
  void pull_back(const Ancestors& draws, Index num_draws, const ParticleFilter& filter,
                 const ParticleStep& before, const ParticleStep& step, const Vector& law,
                 double coefficient, Vector& before_law, std::span<double> s3);

 private:
  PairStatistics pairs_;
};

// Algorithm 1's: every particle comes from its ancestor [YildirimCemgilSingh2012].
class GenealogyKernel final : public BackwardKernel {
 public:
  std::unique_ptr<BackwardKernel> clone() const override {
    return std::make_unique<GenealogyKernel>(*this);
  }
  void prepare(const ParticleFilter&, const ParticleStep&, ParticleStep&) override {}
  void pull_back(const ParticleFilter& filter, const ParticleStep& before, const ParticleStep& step,
                 const Vector& law, double coefficient, Vector& before_law,
                 std::span<double> s3) override {
    past_.pull_back(step.ancestors, 1, filter, before, step, law, coefficient, before_law, s3);
  }

 private:
  DrawnPast past_;
};

// The filter's whole law of the step before, given particle i: R(i, j) proportional to
// W(j) f(x_i | x_j) [DelMoralDoucetSingh2010]. The square of the number of particles a step.
class DenseKernel final : public BackwardKernel {
 public:
  std::unique_ptr<BackwardKernel> clone() const override {
    return std::make_unique<DenseKernel>(*this);
  }
  void prepare(const ParticleFilter&, const ParticleStep&, ParticleStep&) override {}
  void pull_back(const ParticleFilter& filter, const ParticleStep& before, const ParticleStep& step,
                 const Vector& law, double coefficient, Vector& before_law,
                 std::span<double> s3) override;

 private:
  Matrix chunk_laws_;        // what each chunk of particles adds to before_law
  Matrix chunk_statistics_;  // ... and to s3
};

class ChunkOfDraws;

// A few draws from each row of the dense kernel: R(i, j) is the part of them that are j
// [OlssonWesterborn2017]. With one draw paths would coalesce as in a genealogy; two are enough.
class ParisKernel final : public BackwardKernel {
 public:
  ParisKernel(BackwardDraw draw, Index num_draws);
  ~ParisKernel() override;

  std::unique_ptr<BackwardKernel> clone() const override;
  void prepare(const ParticleFilter& filter, const ParticleStep& before,
               ParticleStep& step) override;
  Index num_draws() const override { return num_draws_; }
  void pull_back(const ParticleFilter& filter, const ParticleStep& before, const ParticleStep& step,
                 const Vector& law, double coefficient, Vector& before_law,
                 std::span<double> s3) override {
    past_.pull_back(step.draws, num_draws_, filter, before, step, law, coefficient, before_law, s3);
  }

 private:
  BackwardDraw draw_;
  Index num_draws_;
  DrawnPast past_;
  QuantileTable weights_;             // of the step before
  std::vector<ChunkOfDraws> chunks_;  // room for each chunk's draws
};

// W(j) f(next | x_j) for every particle j of a step, normalised; their weights alone if all vanish.
void backward_law(const AnyPrior& prior, const ParticleStep& before,
                  const Eigen::Ref<const Matrix>& next, Vector& out);

}  // namespace headwater
