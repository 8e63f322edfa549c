#pragma once

#include <cstddef>
#include <vector>

#include "headwater/matrix.hpp"

namespace headwater {

// The series of kernels/count_series.hpp one m at a time, whatever its size: summed from its
// largest term on, in units of that.
class LongSeries {
 public:
  explicit LongSeries(const std::vector<double>& ratios = {});

  double log_sum(double mean) const;
  Index draw(double uniform, double mean) const;

 private:
  struct Sum {
    Index mode;
    double value;  // in units of the term at the mode
  };
  Sum sum_up(double mean) const;

  std::vector<double> ratios_;
  std::vector<double> inverse_ratios_;
  std::vector<double> log_products_;  // of the ratios before
};

}  // namespace headwater
