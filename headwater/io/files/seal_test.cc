#include "headwater/io/files/seal.hpp"

#include <gtest/gtest.h>

#include "headwater/error.hpp"
#include "headwater/io/files/checksum.hpp"
#include "headwater/io/test_support.hpp"

namespace headwater {
namespace {

TEST(Checksum, IsCrc32) { EXPECT_EQ(checksum("123456789"), 0xCBF43926u); }

TEST(Checksum, OfPiecesIsThatOfTheWhole) {
  EXPECT_EQ(checksum("", 0), 0u);
  EXPECT_EQ(checksum("6789", checksum("12345")), 0xCBF43926u);
}

TEST(Seal, HoldsForWhatWasSealedAndForNothingElse) {
  const TestFolder folder;
  const std::string sealed = make_seal("a title", "contents") + "contents";
  EXPECT_EQ(sealed.size(), 512 + 8);
  EXPECT_NO_THROW(check_seal("a title", folder.write("x", sealed)));
  for (std::size_t i = 8; i < sealed.size(); ++i) {
    std::string changed = sealed;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_THROW(check_seal("a title", folder.write("x", changed)), InputError) << i;
    EXPECT_THROW(check_seal("a title", folder.write("x", sealed.substr(0, i))), InputError) << i;
  }
}

TEST(Seal, AFileWithoutOneIsRefused) {
  const TestFolder folder;
  EXPECT_THROW(check_seal("a title", folder.write("x", "contents")), InputError);
  EXPECT_THROW(check_seal("a title", folder.write("x", "")), InputError);
  EXPECT_THROW(check_seal("a title", folder.path("nowhere")), InputError);
}

}  // namespace
}  // namespace headwater
