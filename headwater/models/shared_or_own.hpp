#pragma once

#include <string_view>

#include "headwater/matrix.hpp"

namespace headwater {

// A parameter that all components share (one value) or that each has separately (K values).
class SharedOrOwn {
 public:
  enum class Ends { kOutside, kInside };  // whether lower and upper are allowed themselves

  // Throws UsageError, naming the parameter, unless there are 1 or num_components values between
  // lower and upper.
  SharedOrOwn(std::string_view name, Vector values, Index num_components, double lower,
              double upper, Ends ends = Ends::kOutside);

  double operator[](Index k) const { return values_[values_.size() == 1 ? 0 : k]; }
  const Vector& values() const { return values_; }
  bool is_shared() const { return values_.size() == 1; }

  // Sets each value to estimate(first, last, current value), where [first, last) is the range of
  // components that it applies to: all of them, or one.
  template <class Estimate>
  void update(Index num_components, const Estimate& estimate) {
    if (is_shared()) {
      values_[0] = estimate(Index{0}, num_components, values_[0]);
    } else {
      for (Index k = 0; k < num_components; ++k) values_[k] = estimate(k, k + 1, values_[k]);
    }
  }

  // Like update() above, but from sums of statistics over those components, `per_component` numbers
  // for each: estimate(sums, current value).
  template <class Estimate>
  void update(std::span<const double> statistics, Index per_component, const Estimate& estimate) {
    const auto num_components = static_cast<Index>(statistics.size()) / per_component;
    const Eigen::Map<const Matrix> table(statistics.data(), per_component, num_components);
    update(num_components, [&](Index first, Index last, double before) {
      return estimate(Vector(table.middleCols(first, last - first).rowwise().sum()), before);
    });
  }

 private:
  Vector values_;
};

}  // namespace headwater
