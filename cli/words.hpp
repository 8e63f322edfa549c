#pragma once

#include <fmt/format.h>

#include <concepts>
#include <string>
#include <string_view>
#include <utility>

#include "headwater/io/text/utf8.hpp"

// All words for people are written by these functions. Texts among the arguments may come from
// elsewhere, such as the name of a file or a field of a model: what a terminal could take for a
// command is written as an escape in them (see printable()).

// Words for people go to standard error. That nobody reads them, or that they go to a full disk, is
// no reason to fail: what can fail is the work itself.
void write_words(std::string_view text);

template <class Value>
decltype(auto) shown(const Value& value) {
  if constexpr (std::convertible_to<const Value&, std::string_view>) {
    return headwater::printable(value);
  } else {
    return (value);
  }
}

template <class... Arguments>
std::string words(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  return fmt::format(fmt::runtime(text), shown(arguments)...);
}

template <class... Arguments>
void say(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  write_words(words(text, std::forward<Arguments>(arguments)...));
}

// What a person has asked for goes to standard output.
template <class... Arguments>
void print_words(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  fmt::print("{}", words(text, std::forward<Arguments>(arguments)...));
}

// Opens standard input, output and error where the caller has closed them. A file of ours would
// otherwise get one of their numbers, and words would go into it. Reading or writing what was
// closed still fails.
void open_standard_streams();
