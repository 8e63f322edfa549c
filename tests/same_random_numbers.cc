// Eigen's Random() draws from std::rand(), which goes on from test to test. So that a test has the
// same numbers beside others, in one program, as alone, which is how ctest runs it, each begins
// with those of a new program.

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

namespace {

class BeginsAnew : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo&) override { std::srand(1); }
};

// GoogleTest deletes its listeners.
const bool is_appended = [] {
  auto listener = std::make_unique<BeginsAnew>();
  testing::UnitTest::GetInstance()->listeners().Append(listener.release());
  return true;
}();

}  // namespace
