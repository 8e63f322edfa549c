#pragma once

#include <array>
#include <vector>

#include "headwater/models/guide.hpp"
#include "headwater/models/mean_field.hpp"

namespace headwater {

// Cuts the distances (0, 1/2] to an edge into cells that narrow towards it: cell j lies between
// (j / n)^2 / 2 and ((j + 1) / n)^2 / 2.
struct DistanceCells {
  static constexpr Index kCount = 64;
  static double edge(Index j) {
    const double part = static_cast<double>(j) / static_cast<double>(kCount);
    return part * part / 2;
  }
  static double middle(Index j) { return (edge(j) + edge(j + 1)) / 2; }
  static Index of(double distance);
};

// One component between off and on, guided by any function that is constant in each cell. The
// moves are uniform in pieces, so what they need are integrals of that function from an edge on.
class GuidedRelaxedMove {
 public:
  // values: of the cells from x = 0 to 1/2, then from x = 1 to 1/2. alpha: P(towards the edge).
  void set(const Eigen::Ref<const Vector>& values, double alpha);

  double worth(double state) const;
  double draw(double uniform, double state) const;  // by a number in (0, 1)
  double log_value(double state) const;
  // The same for the stationary law, whose mass in each cell of one side is given.
  double initial_worth(const Vector& masses) const;
  double draw_initial(Generator& generator, const Vector& masses) const;

 private:
  struct Side {
    std::array<double, DistanceCells::kCount> values;
    std::array<double, DistanceCells::kCount> log_values;
    std::array<double, DistanceCells::kCount + 1> integrals;  // from the edge to each cell's

    double integral(double distance) const;
    double inverse_integral(double integral) const;
    double all() const { return integrals.back(); }
  };
  // Of a move from this distance: the integral up to it, and the probabilities of moves towards the
  // edge and away from it, times the means of the function there.
  struct Parts {
    double below, towards, away;
  };
  Parts parts(const Side& own, const Side& other, double distance) const;
  const Side& own_side(double state) const { return sides_[state > 0 ? 0 : 1]; }
  const Side& other_side(double state) const { return sides_[state > 0 ? 1 : 0]; }

  double alpha_ = 0.5;
  std::array<Side, 2> sides_;
};

// The moves of prior 'relaxed-selection', each component guided by its share of the likelihood,
// tabulated.
class RelaxedGuide final : public ColumnwiseGuide {
 public:
  bool look_at(const Vector& alpha, const SeenChannels& seen, ConstStates previous,
               const Eigen::Ref<const Vector>& weights);

  std::unique_ptr<Guide> clone() const override { return std::make_unique<RelaxedGuide>(*this); }
  void log_worths(ConstStates previous, Eigen::Ref<Vector> out) const override;
  void draw(const RandomBlock& random, ConstStates previous, States next) const override;
  void log_values(ConstStates states, Eigen::Ref<Vector> out) const override;

 private:
  std::vector<GuidedRelaxedMove> moves_;
  std::vector<Vector> initial_masses_;  // of each component, as long as nothing has moved
  std::vector<MeanField::Axis> predicted_;
  MeanField mean_field_;
};

}  // namespace headwater
