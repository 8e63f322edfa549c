#pragma once

#include <string>
#include <string_view>

namespace headwater {

// Whether the pages of web/ were built in: they are not where npm was missing.
bool has_pages();

// One HTML file with all that it needs: scripts, styles and the state. Nothing that the state says
// can become a part of the page other than text. Throws UsageError without pages.
std::string report_page(std::string_view title, std::string_view state);

// The bytes of web/'s page, with places for a title and a state; empty without pages. Generated.
std::string_view page_bytes();

}  // namespace headwater
