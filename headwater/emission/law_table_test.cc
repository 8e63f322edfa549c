#include "headwater/law_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headwater/conformance.hpp"
#include "headwater/error.hpp"

namespace headwater {
namespace {

TEST(LawTable, EveryRowMakesTheLawOfItsNameAndItConforms) {
  ASSERT_FALSE(law_table().empty());
  for (const LawInfo& row : law_table()) {
    EXPECT_EQ(row.make({})->name(), row.name);
    EXPECT_FALSE(row.meaning.empty()) << row.name;
    EXPECT_EQ(&find_law(row.name), &row);  // so that no name is there twice
    EXPECT_EQ(check_emission(row.make({3, false}), {}, 3).findings, std::vector<std::string>())
        << row.name;
  }
}

TEST(LawTable, AnUnknownNameIsRefusedWithTheNamesThatThereAre) {
  try {
    find_law("boltzmann");
    FAIL() << "no error";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("'boltzmann'"));
    for (const LawInfo& row : law_table()) EXPECT_THAT(error.what(), testing::HasSubstr(row.name));
  }
}

}  // namespace
}  // namespace headwater
