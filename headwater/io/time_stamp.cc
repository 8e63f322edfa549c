#include "headwater/io/time_stamp.hpp"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cmath>

namespace headwater {

namespace {

namespace chrono = std::chrono;

constexpr double kMinute = 60 * TimeFormat::kPerSecond;
constexpr double kDay = 24 * 60 * kMinute;

// Reads a text from left to right.
class TimeScanner {
 public:
  explicit TimeScanner(std::string_view text) : rest_(text) {}

  // So many digits; nothing, and nothing is read, if there are fewer.
  std::optional<int> digits(std::size_t count) {
    if (rest_.size() < count) return std::nullopt;
    int value = 0;
    for (const char c : rest_.substr(0, count)) {
      if (c < '0' || c > '9') return std::nullopt;
      value = 10 * value + (c - '0');
    }
    rest_.remove_prefix(count);
    return value;
  }
  bool accept(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  // Digits, however many.
  std::string_view run() {
    const std::size_t count = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
    const std::string_view digits = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return digits;
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

// 2026-03-29, as a time.
std::optional<double> read_date(TimeScanner& text) {
  const auto year = text.digits(4);
  if (!year || !text.accept('-')) return std::nullopt;
  const auto month = text.digits(2);
  if (!month || !text.accept('-')) return std::nullopt;
  const auto day = text.digits(2);
  if (!day) return std::nullopt;
  const chrono::year_month_day date(chrono::year(*year),
                                    chrono::month(static_cast<unsigned>(*month)),
                                    chrono::day(static_cast<unsigned>(*day)));
  if (!date.ok()) return std::nullopt;
  return static_cast<double>(chrono::sys_days(date).time_since_epoch().count()) * kDay;
}

// What a time zone is ahead of UTC: Z, +02:00, +0200 or +02.
std::optional<double> read_offset(TimeScanner& text) {
  if (text.accept('Z')) return 0.0;
  const bool is_behind = text.accept('-');
  if (!is_behind && !text.accept('+')) return std::nullopt;
  const auto hours = text.digits(2);
  if (!hours || *hours > 23) return std::nullopt;
  int minutes = 0;
  if (text.accept(':') || !text.rest().empty()) {
    const auto found = text.digits(2);
    if (!found || *found > 59) return std::nullopt;
    minutes = *found;
  }
  const double ahead = (60 * *hours + minutes) * kMinute;
  return is_behind ? -ahead : ahead;
}

std::optional<double> parse_plain(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number)) {
    return std::nullopt;
  }
  return number;
}

}  // namespace

std::optional<double> TimeFormat::parse(std::string_view text, TimeFormat& format) {
  if (const auto number = parse_plain(text)) {
    format = {};
    return number;
  }
  TimeFormat found;
  found.is_calendar_ = true;
  TimeScanner scanner(text);
  auto time = read_date(scanner);
  if (!time) return std::nullopt;
  if (scanner.accept('T') || scanner.accept(' ')) {
    found.has_clock_ = true;
    found.between_ = text[10];
    const auto hour = scanner.digits(2);
    if (!hour || *hour > 24 || !scanner.accept(':')) return std::nullopt;
    const auto minute = scanner.digits(2);
    if (!minute || *minute > 59 || (*hour == 24 && *minute > 0)) return std::nullopt;
    *time += (60 * *hour + *minute) * kMinute;
    if (scanner.accept(':')) {
      const auto second = scanner.digits(2);
      if (!second || *second > 60) return std::nullopt;
      found.has_seconds_ = true;
      *time += *second * kPerSecond;
      if (scanner.accept('.') || scanner.accept(',')) {
        const std::string_view digits = scanner.run();
        found.fraction_digits_ = static_cast<int>(std::min<std::size_t>(digits.size(), 9));
        if (digits.empty() || digits.size() > 9) return std::nullopt;
        double unit = kPerSecond;
        for (const char digit : digits) *time += (unit /= 10) * (digit - '0');
        *time = std::round(*time);
      }
    }
    if (!scanner.rest().empty()) {
      found.offset_ = scanner.rest();
      const auto offset = read_offset(scanner);
      if (!offset) return std::nullopt;
      found.offset_time_ = *offset;
      *time -= *offset;
    }
  }
  if (!scanner.rest().empty()) return std::nullopt;
  format = found;
  return time;
}

std::string TimeFormat::text(double time) const {
  if (!is_calendar_) return fmt::format("{}", time);
  const double local = time + offset_time_;
  const double day = std::floor(local / kDay);
  const chrono::year_month_day date{
      chrono::sys_days(chrono::days(static_cast<chrono::days::rep>(day)))};
  std::string text = fmt::format("{:04}-{:02}-{:02}", int{date.year()}, unsigned{date.month()},
                                 unsigned{date.day()});
  if (!has_clock_) return text;
  const auto micros = static_cast<std::int64_t>(local - day * kDay);
  const std::int64_t seconds = micros / 1000000;
  text += fmt::format("{}{:02}:{:02}", between_, seconds / 3600, seconds / 60 % 60);
  if (has_seconds_) text += fmt::format(":{:02}", seconds % 60);
  if (fraction_digits_ > 0) {
    std::string fraction = fmt::format("{:06}", micros % 1000000);
    fraction.resize(static_cast<std::size_t>(fraction_digits_), '0');
    text += "." + fraction;
  }
  return text + offset_;
}

}  // namespace headwater
