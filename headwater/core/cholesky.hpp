#pragma once

#include <Eigen/Cholesky>

#include "headwater/matrix.hpp"

namespace headwater {

// Eigen's LLT leaves some members unset until the first compute(), and a copy would read them. This
// one begins with the factor of an empty matrix, so that it can always be copied.
class Cholesky : public Eigen::LLT<Matrix> {
 public:
  Cholesky() { compute(Matrix()); }
};

}  // namespace headwater
