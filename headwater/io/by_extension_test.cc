#include "headwater/io/by_extension.hpp"

#include <gtest/gtest.h>

#include "headwater/io/test_support.hpp"

namespace headwater {
namespace {

int read_text() { return 1; }
int read_array() { return 2; }
constexpr FileKind<int()> kKinds[] = {{".csv", read_text}, {".npy", read_array}};

TEST(ByExtension, ChoosesFromATable) {
  EXPECT_EQ(choose_by_extension("counts.csv", kKinds)(), 1);
  EXPECT_EQ(choose_by_extension("a.csv/counts.npy", kKinds)(), 2);
  EXPECT_EQ(choose_by_extension("Counts.NPY", kKinds)(), 2);
  EXPECT_EQ(choose_by_extension("/dev/fd/63", kKinds)(), 1);
}

TEST(ByExtension, SaysWhichExtensionsWouldDo) {
  const auto trouble = [](const std::string& name) {
    return message_of([&] { choose_by_extension(name, kKinds); });
  };
  EXPECT_EQ(trouble("weights.xyz"), "weights.xyz: unknown kind of file; expected .csv or .npy");
  EXPECT_EQ(trouble("weights"), "weights: unknown kind of file; expected .csv or .npy");
  EXPECT_EQ(trouble("data.csv/x"), "data.csv/x: unknown kind of file; expected .csv or .npy");
  EXPECT_EQ(trouble(".csv"), ".csv: unknown kind of file; expected .csv or .npy");
}

}  // namespace
}  // namespace headwater
