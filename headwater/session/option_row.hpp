#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "headwater/matrix.hpp"
#include "headwater/session/choices.hpp"

// What a row of an option table is. The tables themselves are in options.hpp.

namespace headwater {

// What the values of an option are.
struct WholeNumber {  // both ends included
  std::int64_t least = 0;
  std::uint64_t most = 0;
};
struct RealNumber {
  double least = 0;
  double most = 0;
  bool has_least = true;  // whether the ends themselves are allowed
  bool has_most = true;

  bool contains(double value) const;  // false for NaN
};
struct NamedChoice {
  std::vector<std::string> names;
};
struct Flag {};
struct FreeText {
  std::string form;  // what is expected, in words: "the name of a file"
};
struct NameList {  // repeated in the shell, a list in Python
  std::string form;
};
struct ChoiceOrTable {  // a name; or a file in the shell, an array in Python
  std::vector<std::string> names;
  std::string table;  // what the table is: "M x K"
};
using OptionKind =
    std::variant<WholeNumber, RealNumber, NamedChoice, Flag, FreeText, NameList, ChoiceOrTable>;

// Behind "expected": "a whole number from 0 to 1000000", "one of online, batch".
std::string expectation(const OptionKind& kind);
// For a reference page: "0 to 1000000", "online, batch".
std::string allowed_values(const OptionKind& kind);
// What stands for a value in --help: "N", "online|batch".
std::string default_value_name(const OptionKind& kind);

// All of a row but the way to its value.
struct OptionInfo {
  std::string name = {};         // in the shell, in --config and in model files: "resample-below"
  std::string value_name = {};   // what stands for a value in --help, if not the usual
  std::string help = {};         // what it does, one or two sentences without the last full stop
  std::string python_name = {};  // "resample_below"; empty: not an option of Python
  bool is_required = false;      // by the command
  std::string unless = {};       // ... if not this is given, for which the command looks itself
  bool is_positional = false;
  Recorded recorded = Recorded::kNowhere;
  std::string group = {};
  OptionKind kind = Flag{};
  std::string default_text = {};  // of a default-constructed target; empty: there is none
};

// An option of the struct Target. Texts are what a user types and what model files record.
template <class Target>
struct Option : OptionInfo {
  std::function<std::string(const Target&)> get;
  // False if the text is not a value of this option. A list gains one name.
  std::function<bool(Target&, const std::string&)> set;
  std::function<bool(const Target&)> is_valid;
  std::function<void(Target&, const Matrix&)> set_table = {};  // of ChoiceOrTable
};

template <class Target>
using OptionTable = std::vector<Option<Target>>;

// "resample-below" -> "resample_below".
std::string python_name_of(const std::string& name);

std::string number_text(std::int64_t value);
std::string number_text(std::uint64_t value);
std::string number_text(double value);  // the fewest digits that give the same number again

// Decimal digits and nothing else around them; nothing if that is not so or does not fit.
template <class Number>
std::optional<Number> parse_number(const std::string& text) {
  Number number{};
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  if (error != std::errc() || end != last) return std::nullopt;
  return number;
}

template <std::integral Number>
bool is_within(Number value, const WholeNumber& range) {
  return !std::cmp_less(value, range.least) && !std::cmp_greater(value, range.most);
}

namespace rows {

// Makes a row and takes its default from a default-constructed target.
template <class Target, class Get, class Set, class IsValid>
Option<Target> make_row(OptionInfo info, OptionKind kind, Get get, Set set, IsValid is_valid) {
  info.kind = std::move(kind);
  Option<Target> row{std::move(info), std::move(get), std::move(set), std::move(is_valid)};
  row.default_text = row.get(Target{});
  return row;
}

// [least, most], [least, most) and (least, most).
constexpr RealNumber closed(double least, double most) { return {least, most, true, true}; }
constexpr RealNumber half_open(double least, double most) { return {least, most, true, false}; }
constexpr RealNumber open(double least, double most) { return {least, most, false, false}; }

// Rows by the kind of the member.

template <class Target, std::integral Number>
Option<Target> whole_number(OptionInfo info, Number Target::*member, std::int64_t least,
                            std::uint64_t most) {
  using Wide = std::conditional_t<std::is_signed_v<Number>, std::int64_t, std::uint64_t>;
  const WholeNumber range{least, most};
  return make_row<Target>(
      std::move(info), range,
      [member](const Target& target) { return number_text(Wide{target.*member}); },
      [member, range](Target& target, const std::string& text) {
        const auto value = parse_number<Number>(text);
        if (!value || !is_within(*value, range)) return false;
        target.*member = *value;
        return true;
      },
      [member, range](const Target& target) { return is_within(target.*member, range); });
}

// A number that may be left out.
template <class Target, std::integral Number>
Option<Target> whole_number(OptionInfo info, std::optional<Number> Target::*member,
                            std::int64_t least, std::uint64_t most) {
  const WholeNumber range{least, most};
  return make_row<Target>(
      std::move(info), range,
      [member](const Target& target) {
        return target.*member ? number_text(std::int64_t{*(target.*member)}) : std::string();
      },
      [member, range](Target& target, const std::string& text) {
        const auto value = parse_number<Number>(text);
        if (!value || !is_within(*value, range)) return false;
        target.*member = value;
        return true;
      },
      [member, range](const Target& target) {
        return !(target.*member) || is_within(*(target.*member), range);
      });
}

template <class Target>
Option<Target> real_number(OptionInfo info, double Target::*member, const RealNumber& range) {
  return make_row<Target>(
      std::move(info), range,
      [member](const Target& target) { return number_text(target.*member); },
      [member, range](Target& target, const std::string& text) {
        const auto value = parse_number<double>(text);
        if (!value || !range.contains(*value)) return false;
        target.*member = *value;
        return true;
      },
      [member, range](const Target& target) { return range.contains(target.*member); });
}

template <class Target, class Value>
Option<Target> choice(OptionInfo info, Value Target::*member, const Choices<Value>& choices) {
  return make_row<Target>(
      std::move(info), NamedChoice{names_of(choices)},
      [member, choices](const Target& target) { return name_of(target.*member, choices); },
      [member, choices](Target& target, const std::string& text) {
        const auto value = value_of(text, choices);
        if (value) target.*member = *value;
        return value.has_value();
      },
      [member, choices](const Target& target) {
        return !name_of(target.*member, choices).empty();
      });
}

template <class Target>
Option<Target> flag(OptionInfo info, bool Target::*member) {
  return make_row<Target>(
      std::move(info), Flag{},
      [member](const Target& target) { return target.*member ? "yes" : "no"; },
      [member](Target& target, const std::string& text) {
        if (text == "yes") target.*member = true;
        if (text == "no") target.*member = false;
        return text == "yes" || text == "no";
      },
      [](const Target&) { return true; });
}

// Any text but the empty one; `form` says what it should be.
template <class Target>
Option<Target> text(OptionInfo info, std::string Target::*member, const std::string& form) {
  return make_row<Target>(
      std::move(info), FreeText{form}, [member](const Target& target) { return target.*member; },
      [member](Target& target, const std::string& given) {
        if (given.empty()) return false;
        target.*member = given;
        return true;
      },
      [](const Target&) { return true; });
}

// A value of a type with text() and a static parse(), which throws UsageError.
template <class Target, class Value>
Option<Target> parsed(OptionInfo info, Value Target::*member, const std::string& form) {
  return make_row<Target>(
      std::move(info), FreeText{form},
      [member](const Target& target) { return (target.*member).text(); },
      [member](Target& target, const std::string& given) {
        if (given.empty()) return false;
        target.*member = Value::parse(given);
        return true;
      },
      [](const Target&) { return true; });
}

template <class Target>
Option<Target> names(OptionInfo info, std::vector<std::string> Target::*member,
                     const std::string& form) {
  return make_row<Target>(
      std::move(info), NameList{form},
      [member](const Target& target) {
        std::string joined;
        for (const std::string& name : target.*member) joined += (joined.empty() ? "" : ",") + name;
        return joined;
      },
      [member](Target& target, const std::string& name) {
        if (name.empty()) return false;
        (target.*member).push_back(name);
        return true;
      },
      [](const Target&) { return true; });
}

// The same row for a struct that has the target as a member.
template <class Outer, class Inner>
Option<Outer> within(Inner Outer::*member, const Option<Inner>& row) {
  Option<Outer> outer{
      static_cast<const OptionInfo&>(row),
      [member, get = row.get](const Outer& target) { return get(target.*member); },
      [member, set = row.set](Outer& target, const std::string& given) {
        return set(target.*member, given);
      },
      [member, is_valid = row.is_valid](const Outer& target) { return is_valid(target.*member); }};
  if (row.set_table) {
    outer.set_table = [member, set = row.set_table](Outer& target, const Matrix& table) {
      set(target.*member, table);
    };
  }
  outer.default_text = outer.get(Outer{});
  return outer;
}

template <class Outer, class Inner>
OptionTable<Outer> within(Inner Outer::*member, const OptionTable<Inner>& table) {
  OptionTable<Outer> outer;
  for (const Option<Inner>& row : table) outer.push_back(within(member, row));
  return outer;
}

template <class Target>
OptionTable<Target> in_group(const std::string& group, OptionTable<Target> table) {
  for (Option<Target>& row : table) row.group = group;
  return table;
}

template <class Target>
OptionTable<Target> joined(std::initializer_list<OptionTable<Target>> tables) {
  OptionTable<Target> all;
  for (const OptionTable<Target>& table : tables) all.insert(all.end(), table.begin(), table.end());
  return all;
}

// Rows whose Python name is not given are called as in the shell, with underscores.
template <class Target>
OptionTable<Target> for_python_too(OptionTable<Target> table) {
  for (Option<Target>& row : table) {
    if (row.python_name.empty()) row.python_name = python_name_of(row.name);
  }
  return table;
}

}  // namespace rows

// What the tables are used for.

// Null if there is no option of that name.
template <class Target>
const Option<Target>* find_by_name(const OptionTable<Target>& table, const std::string& name) {
  for (const Option<Target>& row : table) {
    if (row.name == name) return &row;
  }
  return nullptr;
}
template <class Target>
const Option<Target>* find_by_python_name(const OptionTable<Target>& table,
                                          const std::string& name) {
  for (const Option<Target>& row : table) {
    if (!name.empty() && row.python_name == name) return &row;
  }
  return nullptr;
}

// "--lag 1e30: expected a whole number from 0 to 1000000".
[[noreturn]] void throw_bad_text(const OptionInfo& option, const std::string& text);
[[noreturn]] void throw_out_of_range(const OptionInfo& option, const std::string& text);

// Sets an option to what was typed; UsageError naming the option as the shell does.
template <class Target>
void set_from_text(const Option<Target>& option, Target& target, const std::string& text) {
  if (!option.set(target, text)) throw_bad_text(option, text);
}

// UsageError for the first option whose value is none that it may have.
template <class Target>
void check_values(const OptionTable<Target>& table, const Target& target) {
  for (const Option<Target>& row : table) {
    if (!row.is_valid(target)) throw_out_of_range(row, row.get(target));
  }
}

// Names and texts of all options that are recorded there, in the order of the table.
using OptionTexts = std::vector<std::pair<std::string, std::string>>;
template <class Target>
OptionTexts texts_of(const OptionTable<Target>& table, const Target& target, Recorded recorded) {
  OptionTexts texts;
  for (const Option<Target>& row : table) {
    if (row.recorded == recorded) texts.emplace_back(row.name, row.get(target));
  }
  return texts;
}

}  // namespace headwater
