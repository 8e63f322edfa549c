#include "headwater/io/text/with_commas.hpp"

namespace headwater {

std::string with_commas(std::int64_t number) {
  std::string text = std::to_string(number);
  for (auto i = static_cast<std::int64_t>(text.size()) - 3; i > (number < 0 ? 1 : 0); i -= 3) {
    text.insert(static_cast<std::size_t>(i), 1, ',');
  }
  return text;
}

}  // namespace headwater
