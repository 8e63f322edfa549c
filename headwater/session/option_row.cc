#include "headwater/session/option_row.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headwater/error.hpp"

namespace headwater {

namespace {

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

std::string interval(const RealNumber& range) {
  return fmt::format("{}{}, {}{}", range.has_least ? '[' : '(', range.least, range.most,
                     range.has_most ? ']' : ')');
}

bool is_closed(const RealNumber& range) { return range.has_least && range.has_most; }

}  // namespace

bool RealNumber::contains(double value) const {
  return (has_least ? value >= least : value > least) && (has_most ? value <= most : value < most);
}

std::string expectation(const OptionKind& kind) {
  return std::visit(
      Overloaded{
          [](const WholeNumber& range) {
            return fmt::format("a whole number from {} to {}", range.least, range.most);
          },
          [](const RealNumber& range) {
            return is_closed(range) ? fmt::format("a number from {} to {}", range.least, range.most)
                                    : fmt::format("a number in {}", interval(range));
          },
          [](const NamedChoice& choice) {
            return fmt::format("one of {}", fmt::join(choice.names, ", "));
          },
          [](const Flag&) { return std::string("yes or no"); },
          [](const FreeText& text) { return text.form; },
          [](const NameList& list) { return list.form; },
          [](const ChoiceOrTable& choice) {
            return fmt::format("one of {}, or {}", fmt::join(choice.names, ", "), choice.table);
          }},
      kind);
}

std::string allowed_values(const OptionKind& kind) {
  return std::visit(
      Overloaded{
          [](const WholeNumber& range) { return fmt::format("{} to {}", range.least, range.most); },
          [](const RealNumber& range) {
            return is_closed(range) ? fmt::format("{} to {}", range.least, range.most)
                                    : fmt::format("in {}", interval(range));
          },
          [](const NamedChoice& choice) {
            return fmt::format("{}", fmt::join(choice.names, ", "));
          },
          [](const Flag&) { return std::string("yes, no"); },
          [](const FreeText& text) { return text.form; },
          [](const NameList& list) { return list.form + ", repeatable"; },
          [](const ChoiceOrTable& choice) {
            return fmt::format("{}, or {}", fmt::join(choice.names, ", "), choice.table);
          }},
      kind);
}

std::string default_value_name(const OptionKind& kind) {
  return std::visit(Overloaded{[](const WholeNumber&) { return std::string("N"); },
                               [](const RealNumber&) { return std::string("X"); },
                               [](const NamedChoice& choice) {
                                 return fmt::format("{}", fmt::join(choice.names, "|"));
                               },
                               [](const Flag&) { return std::string(); },
                               [](const FreeText&) { return std::string("TEXT"); },
                               [](const NameList&) { return std::string("NAME"); },
                               [](const ChoiceOrTable& choice) {
                                 return fmt::format("{}|FILE", fmt::join(choice.names, "|"));
                               }},
                    kind);
}

std::string number_text(std::int64_t value) { return fmt::format("{}", value); }
std::string number_text(std::uint64_t value) { return fmt::format("{}", value); }
std::string number_text(double value) { return fmt::format("{}", value); }

std::string python_name_of(const std::string& name) {
  std::string python_name = name;
  std::ranges::replace(python_name, '-', '_');
  return python_name;
}

void throw_bad_text(const OptionInfo& option, const std::string& text) {
  throw UsageError(fmt::format("{}{} {}: expected {}", option.is_positional ? "" : "--",
                               option.name, text.empty() ? "''" : text, expectation(option.kind)));
}

void throw_out_of_range(const OptionInfo& option, const std::string& text) {
  throw UsageError(
      fmt::format("{} is {}; expected {}", option.name, text, expectation(option.kind)));
}

}  // namespace headwater
