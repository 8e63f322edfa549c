#include "headwater/report/page.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "headwater/error.hpp"
#include "headwater/io/text/json.hpp"

namespace headwater {
namespace {

TEST(Page, SaysThatItIsMissingWhereItIs) {
  if (has_pages()) GTEST_SKIP() << "the pages are built in";
  EXPECT_THROW(report_page("title", "{}"), UsageError);
}

// Whatever a name is, it cannot end the script that holds the state, nor begin a tag.
TEST(Page, WhatTheStateSaysStaysText) {
  if (!has_pages()) GTEST_SKIP() << "built without npm";
  JsonWriter json;
  json.begin_array().value("</script><script>alert(1)</script><!--<img>").end_array();
  const std::string page = report_page("<b>&title", json.text());
  const std::string empty = report_page("", "");
  const auto tags = [](const std::string& text) { return std::ranges::count(text, '<'); };
  EXPECT_EQ(tags(page), tags(empty));
  EXPECT_NE(page.find("<title>&lt;b&gt;&amp;title</title>"), std::string::npos);
  EXPECT_NE(page.find(R"(["\u003c/script>\u003cscript>alert(1))"), std::string::npos);
}

TEST(Page, AsksForNothing) {
  if (!has_pages()) GTEST_SKIP() << "built without npm";
  const std::string page = report_page("", "{}");
  for (const char* address : {" src=", "@import", "url(", "<link rel=\"stylesheet\""}) {
    EXPECT_EQ(page.find(address), std::string::npos) << address;
  }
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
}

}  // namespace
}  // namespace headwater
