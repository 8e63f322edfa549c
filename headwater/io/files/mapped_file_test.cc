#include "headwater/io/files/mapped_file.hpp"

#include <gtest/gtest.h>

#include "headwater/io/test_support.hpp"

namespace headwater {
namespace {

TEST(MappedFile, HoldsTheBytesOfTheFile) {
  const TestFolder folder;
  const std::string text = "some\0bytes" + std::string(10000, 'x');
  EXPECT_EQ(MappedFile(folder.write("a", text)).bytes(), text);
  EXPECT_EQ(MappedFile(folder.write("b", "")).bytes(), "");
}

TEST(MappedFile, NeedsARegularFile) {
  EXPECT_EQ(message_of([] { MappedFile("/dev/null"); }),
            "/dev/null: is not a regular file; this format needs one");
  const TestFolder folder;
  EXPECT_EQ(folder.shorten(message_of([&] { MappedFile(folder.path("a")); })),
            "a: cannot be opened: No such file or directory");
}

}  // namespace
}  // namespace headwater
