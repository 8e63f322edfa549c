#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "headwater/export.hpp"

namespace headwater {

// The weight gamma_t of the t-th observation in the running averages of online EM.
class HEADWATER_EXPORT StepSize {
 public:
  // gamma_t = t^-exponent, 0.5 < exponent <= 1 (the sum of squares converges, the sum of steps does
  // not).
  static StepSize power(double exponent);
  // gamma_t = max(t^-0.6, size), 0 < size < 1: forgets at a constant rate and so follows a basis
  // that drifts. The first steps are larger; otherwise the first observation would keep a large
  // weight for a long time.
  static StepSize constant(double size);
  // power(0.6), the default.
  static StepSize automatic();
  // Parses "auto", "power:0.8" or "constant:0.01"; throws UsageError for anything else.
  static StepSize parse(std::string_view text);

  double operator()(std::int64_t t) const;  // t = 1, 2, ...; the first is always 1
  // The same step sizes, but gamma_t = 1/t for the first `length` observations, which therefore
  // have equal weights.
  StepSize with_even_beginning(std::int64_t length) const;
  // The same, and without a jump after them: gamma_t = length^(A - 1) t^-A in place of t^-A.
  StepSize growing_from(std::int64_t length) const;

  bool is_automatic() const { return kind_ == Kind::kAutomatic; }
  bool is_decreasing() const { return kind_ != Kind::kConstant; }
  std::string text() const;  // accepted by parse()

 private:
  enum class Kind { kAutomatic, kPower, kConstant };
  StepSize(Kind kind, double value) : kind_(kind), value_(value) {}

  Kind kind_;
  double value_;
  std::int64_t even_beginning_ = 1;
  double factor_ = 1;  // of t^-A
};

}  // namespace headwater
