#pragma once

#include <string_view>

#include "headwater/core/matrix.hpp"

namespace headwater {

// A parameter that all components share (one value) or that each has for itself (K values).
class SharedOrOwn {
 public:
  // Throws UsageError, naming the parameter, unless there are 1 or num_components values inside
  // (lower, upper).
  SharedOrOwn(std::string_view name, Vector values, Index num_components, double lower,
              double upper);

  double operator[](Index k) const { return values_[values_.size() == 1 ? 0 : k]; }
  const Vector& values() const { return values_; }
  bool is_shared() const { return values_.size() == 1; }

  // Estimates anew from statistics, `per_component` numbers a component: calls
  //   estimate(sums) -> new value
  // with the sums over all components for a shared value, else with those of each component.
  template <class Estimate>
  void update(std::span<const double> statistics, Index per_component, const Estimate& estimate) {
    const auto num_components = static_cast<Index>(statistics.size()) / per_component;
    const Eigen::Map<const Matrix> table(statistics.data(), per_component, num_components);
    if (is_shared()) {
      values_[0] = estimate(Vector(table.rowwise().sum()), values_[0]);
    } else {
      for (Index k = 0; k < num_components; ++k) {
        values_[k] = estimate(Vector(table.col(k)), values_[k]);
      }
    }
  }

 private:
  Vector values_;
};

}  // namespace headwater
