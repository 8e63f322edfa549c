#pragma once

#include <vector>

#include "headwater/emission/statistics.hpp"
#include "headwater/estimate.hpp"
#include "headwater/learning/estimate_layout.hpp"

namespace headwater {

// Sums over the visits to each phase between two states of the running averages: for each period
// the counts (K x P), and then what was expected with a profile of 1 (K x P).
Vector sums_of_visits(const std::vector<PhaseSums>& before, const std::vector<PhaseSums>& after);

// How many visits of equal weight the averages over so many visits are worth.
double worth_of_visits(double visits, double recency);

// The P gains of a component have the mean 1: they are P - 1 free numbers. These are the
// coordinates in an orthogonal basis whose first vector is constant, so that the first coordinate
// never moves. (The basis is Helmert's: the j-th vector compares phase j with those before it.)
class ProfileCoordinates {
 public:
  explicit ProfileCoordinates(const Estimate& estimate);

  // One row for each batch, one column for each number of an estimate: the columns of gains become
  // those of coordinates, the first of them 0.
  void rotate(Matrix& rows) const;
  // Of some coordinates, and other numbers, by their places: the places of the gains that depend on
  // them, and of the others, in order.
  std::vector<Index> places_after(const std::vector<Index>& places) const;
  // Columns of `rows` that have these places become columns of places_after().
  Matrix rotated_back(const Matrix& rows, const std::vector<Index>& places) const;

 private:
  // The gains of one component in one period.
  struct Row {
    std::vector<Index> places;
    std::size_t period;
  };
  std::vector<Row> rows_;
  std::vector<Matrix> bases_;  // P x P, of each period
};

}  // namespace headwater
