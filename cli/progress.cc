#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>

#include "words.hpp"

namespace {

constexpr std::chrono::milliseconds kPause{200};

std::string time_left(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", seconds);
  if (seconds < 6000) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace

Progress::Progress(bool quiet) : is_on_(!quiet && isatty(STDERR_FILENO) == 1) {}

double Progress::seconds() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

void Progress::show(std::int64_t done, const char* what, std::optional<double> fraction) {
  if (!is_on_) return;
  const Clock::time_point now = Clock::now();
  if (now - last_ < kPause) return;
  last_ = now;
  const double elapsed = seconds();
  std::string line = fmt::format("{} {}, {}/s", with_commas(done), what,
                                 rounded_rate(static_cast<double>(done) / elapsed));
  if (fraction && *fraction > 0 && *fraction <= 1) {
    line += fmt::format(", {:.0f} %, {} left", 100 * *fraction,
                        time_left(elapsed * (1 - *fraction) / *fraction));
  }
  say("\r{}\x1b[K", line);
  is_shown_ = true;
}

void Progress::clear() {
  if (is_shown_) say("\r\x1b[K");
  is_shown_ = false;
}

std::string rounded_rate(double per_second) {
  if (!(per_second >= 1)) return fmt::format("{:.2g}", per_second);
  const double unit = std::pow(10.0, std::max(0.0, std::floor(std::log10(per_second)) - 2));
  return with_commas(static_cast<std::int64_t>(std::round(per_second / unit) * unit));
}
