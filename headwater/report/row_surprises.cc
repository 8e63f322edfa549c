#include "headwater/report/row_surprises.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "headwater/engines/engine.hpp"

namespace headwater {

namespace {

// So many cells are looked at, and some rows in any case.
constexpr Index kMostCells = 160'000;
constexpr Index kFewestRegular = 128;
constexpr Index kMostRegular = 1024;
constexpr std::size_t kCandidates = 32;
constexpr double kRowsToSettle = 20;  // before that, the mean of -log p is not known
constexpr std::size_t kCellsShown = 4;

bool by_excess(double a, double b) { return a > b; }

// Standard deviations from the mean, by the law of the counts. Beyond a hurdle, the expected count
// says what the variance is.
double deviation(const Emission& emission, Index channel, double seen, double expected) {
  const VarianceFunction variance = emission.law()->variance(channel);
  const double square = variance.has_hurdle() ? expected * (1 + 2 * variance.excess - expected)
                                              : variance.variance_of_count(expected);
  if (square > 0) return (seen - expected) / std::sqrt(square);
  return seen > expected ? std::numeric_limits<double>::infinity() : 0;
}

std::vector<UnusualCell> most_unusual(const Emission& emission, const Observation& y,
                                      const Vector& expected) {
  std::vector<UnusualCell> cells;
  for_each_seen(y, [&](Index m, double count, double) {
    cells.push_back({m, expected[m], count, deviation(emission, m, count, expected[m])});
  });
  const auto first = cells.begin();
  const auto last = first + static_cast<std::ptrdiff_t>(std::min(kCellsShown, cells.size()));
  std::partial_sort(first, last, cells.end(), [](const UnusualCell& a, const UnusualCell& b) {
    return std::abs(a.deviation) > std::abs(b.deviation);
  });
  cells.erase(last, cells.end());
  return cells;
}

}  // namespace

RowSurprises::RowSurprises(Index num_channels)
    : most_regular_(static_cast<std::size_t>(std::clamp(
          kMostCells / std::max<Index>(num_channels, 1), kFewestRegular, kMostRegular))) {}

void RowSurprises::expect_rows(double rows) {
  while (static_cast<double>(stride_) * static_cast<double>(most_regular_) < rows) {
    stride_ *= 2;
    keep_every_second();
  }
}

void RowSurprises::keep_every_second() {
  std::erase_if(regular_, [&](const auto& row) { return row.first % stride_ != 0; });
}

bool RowSurprises::is_candidate(double excess) const {
  if (count_ < kRowsToSettle) return false;
  return candidates_.size() < kCandidates || excess > candidates_.front().excess;
}

void RowSurprises::add(const ModelFilter& filter, const Observation& y, std::int64_t t,
                       const FilterStep& step, const Vector& expected) {
  if (!y.any_seen()) return;
  const double surprise = -step.log_predictive;
  const double spread = count_ > 1 ? std::sqrt(squares_ / (count_ - 1)) : 0;
  const double excess = spread > 0 ? (surprise - mean_) / spread : 0;
  const bool is_regular = t % stride_ == 0;
  const bool is_new_candidate = is_candidate(excess);
  if (is_regular || is_new_candidate) {
    const double tail = meter_(filter.engine(), y, t).p_row;
    if (is_regular) {
      regular_.emplace_back(t, tail);
      if (regular_.size() > 2 * most_regular_) {
        stride_ *= 2;
        keep_every_second();
      }
    }
    if (is_new_candidate) {
      const auto order = [](const Candidate& a, const Candidate& b) {
        return by_excess(a.excess, b.excess);
      };
      if (candidates_.size() == kCandidates) {
        std::pop_heap(candidates_.begin(), candidates_.end(), order);
        candidates_.pop_back();
      }
      candidates_.push_back({excess,
                             {t, y.time(), tail, step.log_predictive,
                              most_unusual(filter.engine().emission(), y, expected)}});
      std::push_heap(candidates_.begin(), candidates_.end(), order);
    }
  }
  if (!std::isfinite(surprise)) return;
  count_ += 1;
  const double before = surprise - mean_;
  mean_ += before / count_;
  squares_ += before * (surprise - mean_);
}

std::vector<double> RowSurprises::tail_probabilities() const {
  std::vector<double> tails;
  for (const auto& [t, tail] : regular_) tails.push_back(tail);
  std::ranges::sort(tails);
  return tails;
}

std::vector<SurprisingRow> RowSurprises::most_surprising(std::size_t count) const {
  std::vector<Candidate> sorted = candidates_;
  std::ranges::sort(sorted, [](const Candidate& a, const Candidate& b) {
    return std::pair(a.row.tail_probability, -a.excess) <
           std::pair(b.row.tail_probability, -b.excess);
  });
  std::vector<SurprisingRow> rows;
  for (std::size_t i = 0; i < std::min(count, sorted.size()); ++i) rows.push_back(sorted[i].row);
  return rows;
}

}  // namespace headwater
