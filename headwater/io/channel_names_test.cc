#include "headwater/io/channel_names.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "headwater/error.hpp"
#include "headwater/io/reordered_source.hpp"
#include "headwater/io/test_support.hpp"

namespace headwater {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Names = std::vector<std::string>;

std::string refusal(const Names& expected, const Names& found) {
  try {
    order_by_name(expected, found, "y.csv", "m.h5");
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ChannelNames, APermutationIsPutInOrder) {
  EXPECT_THAT(order_by_name({"a", "b", "c"}, {"c", "a", "b"}, "y", "m"), ElementsAre(1, 2, 0));
  EXPECT_THAT(order_by_name({"a", "b"}, {"a", "b"}, "y", "m"), IsEmpty());
  EXPECT_THAT(order_by_name({}, {"a", "b"}, "y", "m"), IsEmpty());
  EXPECT_THAT(order_by_name({"a", "b"}, {}, "y", "m"), IsEmpty());
}

TEST(ChannelNames, EveryPermutationOfManyNames) {
  std::mt19937 random(1);
  Names names;
  for (int m = 0; m < 500; ++m) names.push_back("channel " + std::to_string(m));
  for (int i = 0; i < 20; ++i) {
    Names found = names;
    std::ranges::shuffle(found, random);
    const std::vector<Index> order = order_by_name(names, found, "y", "m");
    for (std::size_t m = 0; m < names.size(); ++m) EXPECT_EQ(found[order[m]], names[m]);
  }
}

TEST(ChannelNames, OtherNamesAreListed) {
  EXPECT_EQ(refusal({"a", "b", "c"}, {"a", "x", "y"}),
            "y.csv: its channels are not those of m.h5: 'b' and 'c' are missing; 'x' and 'y' are "
            "not among them");
  EXPECT_EQ(refusal({"a", "b"}, {"a", "b", "x"}),
            "y.csv: has 3 channels; m.h5 was fitted to 2: 'x' is not among them");
  EXPECT_EQ(refusal({"a", "b", "c"}, {"a"}),
            "y.csv: has 1 channels; m.h5 was fitted to 3: 'b' and 'c' are missing");
  EXPECT_EQ(refusal({"a", "b"}, {"a", "a"}),
            "y.csv: its channels are not those of m.h5: 'b' is missing; 'a' is not among them");
}

TEST(ChannelNames, TheListIsShort) {
  Names expected;
  Names found;
  for (int m = 0; m < 10000; ++m) {
    expected.push_back(std::string(1000, 'e') + std::to_string(m));
    found.push_back("\x1b[2J" + std::string(1000, 'f') + std::to_string(m));
  }
  const std::string message = refusal(expected, found);
  EXPECT_LT(message.size(), 1000u);
  EXPECT_THAT(message, HasSubstr("and 9995 more are missing"));
  EXPECT_EQ(message.find('\x1b'), message.npos);
}

TEST(ChannelNames, TwoOfOneNameKeepTheirOrder) {
  EXPECT_THAT(order_by_name({"a", "a", "b"}, {"a", "a", "b"}, "y", "m"), IsEmpty());
  EXPECT_THAT(refusal({"a", "a", "b"}, {"b", "a", "a"}), HasSubstr("two of them are called 'a'"));
  EXPECT_EQ(repeated_name({"a", "b", "a"}), "'a'");
  EXPECT_EQ(repeated_name({"a", "b", ""}), "");
}

TEST(ChannelNames, WhatAFileCannotKeepIsRefused) {
  check_names({"", "b"}, 2, "y.csv");
  check_names({}, 2, "y.csv");
  EXPECT_THROW(check_names({"a"}, 2, "y.csv"), InputError);
  EXPECT_THROW(check_names({"a", std::string("b\0c", 3)}, 2, "y.csv"), InputError);
}

TEST(ReorderedSource, ReordersRowsAndNames) {
  const TestFolder folder;
  const std::string file = folder.write("y.csv", "a,b,c\n1,2,3\n4,NA,0\n");
  ReorderedSource source(open_source(file), {2, 0, 1});
  EXPECT_THAT(source.channel_names(), ElementsAre("c", "a", "b"));
  std::vector<double> row;
  ASSERT_TRUE(source.next(row));
  EXPECT_THAT(row, ElementsAre(3, 1, 2));
  Observation y;
  ASSERT_TRUE(source.next(y));
  EXPECT_THAT(y.channels(), ElementsAre(1));
  EXPECT_THAT(y.counts(), ElementsAre(4));
  EXPECT_THAT(y.exposed(), ElementsAre(2));
  EXPECT_FALSE(source.next(y));
}

TEST(ReorderedSource, KeepsWhereSequencesBegin) {
  const TestFolder folder;
  const std::string file = folder.write("y.csv", "trial,a,b\n1,1,2\n2,3,4\n");
  ReorderedSource source(open_source(file, {.sequence_column = "trial"}), {1, 0});
  Observation y;
  ASSERT_TRUE(source.next(y));
  ASSERT_TRUE(source.next(y));
  EXPECT_TRUE(y.begins_sequence());
  EXPECT_THAT(y.counts(), ElementsAre(4, 3));
}

}  // namespace
}  // namespace headwater
