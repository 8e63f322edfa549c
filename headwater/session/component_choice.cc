#include "headwater/session/component_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "headwater/error.hpp"
#include "headwater/session/option_row.hpp"
#include "headwater/session/options.hpp"

namespace headwater {

namespace {

[[noreturn]] void refuse_candidates(const std::string& text) {
  const bool is_one = text.find("..") == std::string::npos && text.find(',') == std::string::npos;
  throw UsageError(fmt::format(
      "--components {}: expected {}", text,
      is_one
          ? fmt::format("a whole number from 1 to {}", kMostComponents)
          : fmt::format("a range such as 2..8 or a list such as 2,3,5, of different numbers from 1 "
                        "to {}, at most {} of them",
                        kMostComponents, kMostCandidates)));
}

Index candidate_of(const std::string& part, const std::string& text) {
  const auto number = parse_number<Index>(part);
  if (!number || *number < 1 || *number > kMostComponents) refuse_candidates(text);
  return *number;
}

}  // namespace

std::vector<Index> parse_candidates(const std::string& text) {
  std::vector<Index> candidates;
  const std::size_t dots = text.find("..");
  if (dots != std::string::npos) {
    const Index first = candidate_of(text.substr(0, dots), text);
    const Index last = candidate_of(text.substr(dots + 2), text);
    if (last < first || last - first >= kMostCandidates) refuse_candidates(text);
    for (Index k = first; k <= last; ++k) candidates.push_back(k);
    return candidates;
  }
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    candidates.push_back(candidate_of(text.substr(begin, end - begin), text));
    begin = end + 1;
  }
  std::ranges::sort(candidates);
  const bool is_repeated = std::ranges::adjacent_find(candidates) != candidates.end();
  if (is_repeated || std::ssize(candidates) > kMostCandidates) refuse_candidates(text);
  return candidates;
}

ComponentChoice::ComponentChoice(std::vector<Index> candidates)
    : candidates_(std::move(candidates)),
      waiting_(candidates_.size()),
      in_start_(std::ssize(candidates_)),
      after_start_(std::ssize(candidates_)) {}

// What one fit calls impossible or an outlier says nothing of the others: it counts for none.
void ComponentChoice::add(Index candidate, const StepReport& report) {
  if (candidate == 0) num_channels_ = report.observation->num_channels();
  const bool counts = !report.filter.impossible && !report.is_outlier;
  waiting_[static_cast<std::size_t>(candidate)].push_back(
      {counts ? report.filter.log_predictive : -std::numeric_limits<double>::infinity(),
       report.in_start});
}

void ComponentChoice::compare() {
  std::vector<double> predictions(waiting_.size());
  const auto has_next = [](const std::deque<Prediction>& queue) { return !queue.empty(); };
  while (std::ranges::all_of(waiting_, has_next)) {
    bool in_start = false;
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      predictions[i] = waiting_[i].front().log_predictive;
      in_start = in_start || waiting_[i].front().in_start;
      waiting_[i].pop_front();
    }
    (in_start ? in_start_ : after_start_).add(predictions);
  }
}

const PairedScores& ComponentChoice::scores() const {
  return after_start_.observations() > 0 ? after_start_ : in_start_;
}

std::vector<ComponentScore> ComponentChoice::table() const {
  const PairedScores& compared = scores();
  const Index best = compared.best();
  std::vector<ComponentScore> table;
  for (Index i = 0; i < compared.num_candidates(); ++i) {
    table.push_back({candidates_[static_cast<std::size_t>(i)], compared.mean(i),
                     compared.difference(i, best).standard_error, i == chosen()});
  }
  return table;
}

void ComponentChoice::exchange(StateArchive& archive) {
  archive(num_channels_, in_start_, after_start_);
  archive.expect(num_channels_ >= 0, "an invalid number of channels");
  for (std::deque<Prediction>& queue : waiting_) {
    auto count = static_cast<Index>(queue.size());
    archive.count(count);
    queue.resize(static_cast<std::size_t>(count));
    for (Prediction& prediction : queue) archive(prediction);
  }
}

}  // namespace headwater
