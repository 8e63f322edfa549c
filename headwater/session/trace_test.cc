#include "headwater/session/trace.hpp"

#include <gtest/gtest.h>

#include "headwater/model.hpp"
#include "headwater/models/gamma_prior.hpp"

namespace headwater {
namespace {

Estimate estimate_with(Index channels) {
  return {Matrix::Ones(channels, 2), AnyPrior(GammaPrior(2, 1, 0.9))};
}

TEST(Trace, HasNoBasisThatIsVeryLarge) {
  const Estimate small = estimate_with(kLargestTracedBasis / 2);
  const Estimate large = estimate_with(kLargestTracedBasis / 2 + 1);
  const auto size_of = [](const Estimate& estimate) {
    TraceTable table;
    table.names = trace_names(estimate, false);
    EXPECT_EQ(std::ssize(table.names), trace_values(estimate).size());
    EXPECT_EQ(table.has_basis(), trace_values(estimate).size() >= estimate.basis.size());
    return std::ssize(table.names);
  };
  const auto parameters = size_of(large);
  EXPECT_GT(parameters, 0);
  EXPECT_EQ(size_of(small), parameters + kLargestTracedBasis);
}

}  // namespace
}  // namespace headwater
