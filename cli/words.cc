#include "words.hpp"

#include <cstdio>

void write_words(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}
