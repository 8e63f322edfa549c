#include "headwater/report/page.hpp"

#include <cassert>

#include "headwater/error.hpp"
#include "headwater/io/text/json.hpp"

namespace headwater {

namespace {

// Comments of the page, which build.mjs leaves where a text belongs.
constexpr std::string_view kTitlePlace = "headwater-title-goes-here";
constexpr std::string_view kStatePlace = "headwater-state-goes-here";

// As text between tags.
std::string escaped_text(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '&':
        escaped += "&amp;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

// JSON inside <script>: a '<' can only stand in a string there, where \u003c means the same. So no
// name of a channel can end the script or begin a comment.
std::string escaped_json(std::string_view json) {
  std::string escaped;
  escaped.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      escaped += "\\u003c";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace

bool has_pages() { return !page_bytes().empty(); }

std::string report_page(std::string_view title, std::string_view state) {
  if (!has_pages()) {
    throw UsageError(
        "this headwater was built without npm, and so without pages; install npm and build it "
        "again");
  }
  const std::string_view page = page_bytes();
  const std::size_t title_at = page.find(kTitlePlace);
  const std::size_t state_at = page.find(kStatePlace);
  assert(title_at < state_at && state_at != std::string_view::npos);
  std::string text(page.substr(0, title_at));
  text += escaped_text(title);
  text += page.substr(title_at + kTitlePlace.size(), state_at - title_at - kTitlePlace.size());
  text += escaped_json(state);
  text += page.substr(state_at + kStatePlace.size());
  return text;
}

}  // namespace headwater
