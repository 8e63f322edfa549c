#include "headwater/step_size.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "headwater/error.hpp"

namespace headwater {

namespace {

constexpr double kDefaultExponent = 0.6;

}  // namespace

StepSize StepSize::power(double exponent) {
  if (!(exponent > 0.5 && exponent <= 1)) {
    throw UsageError(
        fmt::format("step power:{}: the exponent must be over 0.5 and at most 1", exponent));
  }
  return {Kind::kPower, exponent};
}

StepSize StepSize::constant(double size) {
  if (!(size > 0 && size < 1)) {
    throw UsageError(fmt::format("step constant:{}: the step must be inside (0, 1)", size));
  }
  return {Kind::kConstant, size};
}

StepSize StepSize::automatic() { return {Kind::kAutomatic, kDefaultExponent}; }

StepSize StepSize::with_even_beginning(std::int64_t length) const {
  StepSize step_size = *this;
  step_size.even_beginning_ = length;
  return step_size;
}

StepSize StepSize::growing_from(std::int64_t length) const {
  StepSize step_size = with_even_beginning(length);
  step_size.factor_ = std::pow(static_cast<double>(length), value_ - 1);
  return step_size;
}

StepSize StepSize::parse(std::string_view text) {
  if (text == "auto") return automatic();
  const std::size_t colon = text.find(':');
  double value = 0;
  if (colon != std::string_view::npos) {
    const char* first = text.data() + colon + 1;
    const char* last = text.data() + text.size();
    const auto [end, error] = std::from_chars(first, last, value);
    if (error == std::errc() && end == last) {
      if (text.substr(0, colon) == "power") return power(value);
      if (text.substr(0, colon) == "constant") return constant(value);
    }
  }
  throw UsageError(fmt::format(
      "step '{}': expected power:A or constant:G, for instance power:0.6, or auto", text));
}

double StepSize::operator()(std::int64_t t) const {
  if (t <= 1) return 1;
  const auto time = static_cast<double>(t);
  if (t <= even_beginning_) return 1 / time;
  if (kind_ == Kind::kConstant) return std::max(std::pow(time, -kDefaultExponent), value_);
  return factor_ * std::pow(time, -value_);
}

std::string StepSize::text() const {
  if (kind_ == Kind::kAutomatic) return "auto";
  return fmt::format("{}:{}", kind_ == Kind::kPower ? "power" : "constant", value_);
}

}  // namespace headwater
