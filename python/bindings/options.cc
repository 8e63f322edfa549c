#include "options.hpp"

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <utility>

#include "arrays.hpp"
#include "headwater/error.hpp"
#include "headwater/law_table.hpp"
#include "headwater/session/options.hpp"
#include "module.hpp"

namespace headwater::python {

namespace {

// An option and its value. Error messages begin with the option's name.
struct Given {
  std::string name;
  nb::handle value;

  std::string shown() const { return nb::cast<std::string>(nb::repr(value)); }

  template <class T>
  T as(const char* kind) const {
    try {
      return nb::cast<T>(value);
    } catch (const nb::cast_error&) {
      throw UsageError(fmt::format("{}={}: expected {}", name, shown(), kind));
    }
  }
};

[[noreturn]] void refuse(const Given& given, const OptionKind& kind) {
  throw UsageError(
      fmt::format("{}={}: expected {}", given.name, given.shown(),
                  std::holds_alternative<Flag>(kind) ? "True or False" : expectation(kind)));
}

template <class T>
std::optional<T> cast(nb::handle value) {
  T result{};
  return nb::try_cast(value, result) ? std::optional<T>(std::move(result)) : std::nullopt;
}

// What would be typed in the shell for a value of this kind: several texts for a list, nothing for
// a value of another kind.
struct TextOf {
  using Texts = std::optional<std::vector<std::string>>;
  nb::handle value;

  Texts operator()(const WholeNumber&) const {
    if (!PyIndex_Check(value.ptr())) return std::nullopt;
    return one(nb::str(nb::steal(PyNumber_Index(value.ptr()))).c_str());
  }
  Texts operator()(const RealNumber&) const {
    const auto number = cast<double>(value);
    return number ? one(number_text(*number)) : std::nullopt;
  }
  Texts operator()(const Flag&) const {
    const auto is_on = cast<bool>(value);
    return is_on ? one(*is_on ? "yes" : "no") : std::nullopt;
  }
  // A list, or what would be its only entry. Entries are texts or whole numbers.
  Texts operator()(const NameList&) const {
    if (const Texts alone = entry(value)) return alone;
    const auto entries = cast<std::vector<nb::object>>(value);
    if (!entries) return std::nullopt;
    std::vector<std::string> texts;
    for (const nb::object& one_of_them : *entries) {
      const Texts text = entry(one_of_them);
      if (!text) return std::nullopt;
      texts.push_back(text->front());
    }
    return texts;
  }
  template <class Other>
  Texts operator()(const Other&) const {
    const auto text = cast<std::string>(value);
    return text ? one(*text) : std::nullopt;
  }

 private:
  static Texts entry(nb::handle value) {
    if (const auto text = cast<std::string>(value)) return one(*text);
    if (PyIndex_Check(value.ptr()) && !PySequence_Check(value.ptr())) {
      return one(nb::str(nb::steal(PyNumber_Index(value.ptr()))).c_str());
    }
    return std::nullopt;
  }
  static Texts one(std::string text) { return std::vector<std::string>{std::move(text)}; }
};

template <class Target>
void set_option(const Option<Target>& row, Target& target, const Given& given) {
  if (row.set_table && !nb::isinstance<nb::str>(given.value)) {
    row.set_table(target, as_map(given.as<RowsIn>(expectation(row.kind).c_str())));
    return;
  }
  const auto texts = std::visit(TextOf{given.value}, row.kind);
  if (!texts) refuse(given, row.kind);
  for (const std::string& text : *texts) {
    if (!row.set(target, text)) refuse(given, row.kind);
  }
}

template <class Target>
void set_options(const OptionTable<Target>& table, const nb::dict& options, Target& target) {
  for (const auto& [name, value] : options) {
    const Given given{nb::cast<std::string>(name), value};
    const Option<Target>* row = find_by_python_name(table, given.name);
    if (row == nullptr) throw UsageError(fmt::format("there is no option '{}'", given.name));
    set_option(*row, target, given);
  }
}

template <class Target>
Target target_from(const OptionTable<Target>& table, const nb::dict& options) {
  Target target;
  set_options(table, options, target);
  return target;
}

// The default as Python has it.
struct DefaultOf {
  const std::string& text;

  nb::object operator()(const WholeNumber&) const {
    return nb::steal(PyLong_FromString(text.c_str(), nullptr, 10));
  }
  nb::object operator()(const RealNumber&) const {
    return nb::cast(parse_number<double>(text).value());
  }
  nb::object operator()(const Flag&) const { return nb::cast(text == "yes"); }
  nb::object operator()(const NameList&) const { return nb::make_tuple(); }
  template <class Other>
  nb::object operator()(const Other&) const {
    return nb::cast(text);
  }
};

struct TypeOf {
  const char* operator()(const WholeNumber&) const { return "int"; }
  const char* operator()(const RealNumber&) const { return "float"; }
  const char* operator()(const Flag&) const { return "bool"; }
  const char* operator()(const NameList&) const { return "Iterable[str]"; }
  const char* operator()(const ChoiceOrTable&) const { return "Any"; }
  template <class Other>
  const char* operator()(const Other&) const {
    return "str";
  }
};

std::string python_values(const OptionKind& kind) {
  if (std::holds_alternative<Flag>(kind)) return "";
  if (std::holds_alternative<NameList>(kind)) return "a list; each is " + expectation(kind);
  return allowed_values(kind);
}

template <class Target>
nb::list described(const OptionTable<Target>& table) {
  nb::list rows;
  for (const Option<Target>& row : table) {
    nb::dict entry;
    entry["name"] = row.python_name;
    entry["shell_name"] = row.name;
    entry["type"] = std::visit(TypeOf{}, row.kind);
    entry["default"] = std::visit(DefaultOf{row.default_text}, row.kind);
    entry["values"] = python_values(row.kind);
    entry["help"] = row.help;
    rows.append(entry);
  }
  return rows;
}

}  // namespace

Config config_from(const nb::dict& options) { return target_from(config_options(), options); }

void change_config(const nb::dict& options, Config& config) {
  if (options.contains("period")) config.season.periods.clear();
  set_options(config_options(), options, config);
}

EngineConfig engine_config_from(const nb::dict& options) {
  return target_from(engine_options(), options);
}

void bind_options(nb::module_& module) {
  module.def("stream_options", [] { return described(config_options()); });
  module.def("engine_options", [] { return described(engine_options()); });
}

namespace {

// Those that belong to a law of the counts, or those that do not.
Parameters parameters_from(const nb::dict& parameters, bool of_law) {
  Parameters chosen;
  for (const auto& [key, value] : parameters) {
    const Given given{nb::cast<std::string>(key), value};
    if (is_law_parameter(given.name) != of_law) continue;
    const Matrix table = as_map(given.as<RowsIn>("numbers"));
    chosen.push_back({given.name, of_law ? Matrix(table.reshaped()) : table});
  }
  return chosen;
}

}  // namespace

PriorConfig prior_config_from(const std::string& name, const nb::dict& parameters,
                              bool per_component) {
  PriorConfig config;
  config.name = name;
  config.per_component = per_component;
  config.parameters = parameters_from(parameters, false);
  return config;
}

Parameters law_parameters_from(const nb::dict& parameters) {
  return parameters_from(parameters, true);
}

}  // namespace headwater::python
