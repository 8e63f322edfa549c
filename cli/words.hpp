#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

// Words for people go to standard error through these functions. That nobody reads them, or that
// they go to a full disk, is no reason to fail: what can fail is the work itself.
void write_words(std::string_view text);

template <class... Arguments>
void say(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  write_words(fmt::format(text, std::forward<Arguments>(arguments)...));
}

// Opens standard input, output and error where the caller has closed them. A file of ours would
// otherwise get one of their numbers, and words would go into it. Reading or writing what was
// closed still fails.
void open_standard_streams();
