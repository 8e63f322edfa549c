#include "headwater/io/channel_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "headwater/error.hpp"
#include "headwater/io/cell.hpp"

namespace headwater {
namespace {

constexpr std::size_t kMostNamesShown = 5;

// The names of `names` that are not among `others`, each as often as it is there more often.
std::vector<std::string_view> names_beyond(const std::vector<std::string>& names,
                                           const std::vector<std::string>& others) {
  std::unordered_map<std::string_view, std::int64_t> left;
  for (const std::string& name : others) ++left[name];
  std::vector<std::string_view> beyond;
  for (const std::string& name : names) {
    if (--left[name] < 0) beyond.push_back(name);
  }
  return beyond;
}

// "'a', 'b' and 3 more"
std::string list_names(const std::vector<std::string_view>& names) {
  std::string list;
  const std::size_t shown = std::min(names.size(), kMostNamesShown);
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) list += i + 1 == names.size() ? " and " : ", ";
    list += quote_text(names[i]);
  }
  if (names.size() > shown) list += fmt::format(" and {} more", names.size() - shown);
  return list;
}

[[noreturn]] void refuse_other_names(const std::vector<std::string>& expected,
                                     const std::vector<std::string>& found,
                                     const std::string& subject, const std::string& model) {
  std::string differences;
  const auto tell = [&](const std::vector<std::string_view>& names, std::string_view of_them) {
    if (names.empty()) return;
    differences += fmt::format("{}{} {} {}", differences.empty() ? "" : "; ", list_names(names),
                               names.size() == 1 ? "is" : "are", of_them);
  };
  tell(names_beyond(expected, found), "missing");
  tell(names_beyond(found, expected), "not among them");
  if (expected.size() != found.size()) {
    throw InputError(fmt::format("{}: has {} channels; {} was fitted to {}: {}", subject,
                                 found.size(), model, expected.size(), differences));
  }
  throw InputError(
      fmt::format("{}: its channels are not those of {}: {}", subject, model, differences));
}

}  // namespace

std::string repeated_name(const std::vector<std::string>& names) {
  std::unordered_map<std::string_view, bool> seen;
  for (const std::string& name : names) {
    if (std::exchange(seen[name], true)) return quote_text(name);
  }
  return "";
}

void check_names(const std::vector<std::string>& names, Index num_channels,
                 const std::string& subject) {
  if (!names.empty() && static_cast<Index>(names.size()) != num_channels) {
    throw InputError(
        fmt::format("{}: {} names for {} channels", subject, names.size(), num_channels));
  }
  for (const std::string& name : names) {
    if (name.find('\0') == name.npos) continue;
    throw InputError(
        fmt::format("{}: the name {} of a channel holds a NUL byte", subject, quote_text(name)));
  }
}

std::vector<Index> order_by_name(const std::vector<std::string>& expected,
                                 const std::vector<std::string>& found, const std::string& subject,
                                 const std::string& model) {
  if (expected.empty() || found.empty() || expected == found) return {};
  std::unordered_map<std::string_view, Index> columns;
  for (std::size_t i = 0; i < found.size(); ++i) {
    columns.emplace(found[i], static_cast<Index>(i));
  }
  std::vector<Index> order;
  for (const std::string& name : expected) {
    const auto column = columns.find(name);
    if (column == columns.end()) refuse_other_names(expected, found, subject, model);
    order.push_back(column->second);
  }
  if (expected.size() != found.size() || !names_beyond(found, expected).empty()) {
    refuse_other_names(expected, found, subject, model);
  }
  if (const std::string name = repeated_name(expected); !name.empty()) {
    throw InputError(
        fmt::format("{}: has the channels of {} in another order, but two of them are called {}; "
                    "expected the same order, or a name for each",
                    subject, model, name));
  }
  return order;
}

}  // namespace headwater
