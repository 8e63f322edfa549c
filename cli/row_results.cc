#include "row_results.hpp"

#include <algorithm>
#include <cstring>

#include "words.hpp"

using namespace headwater;

namespace {

constexpr std::size_t kMostRows = 4096;
constexpr std::size_t kMostNumbers = std::size_t{1} << 20;

std::string bytes_of(const std::vector<double>& numbers) {
  std::string bytes(numbers.size() * sizeof(double), '\0');
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

}  // namespace

RowResults::RowResults(const RankOptions& options, Index num_values, Take take)
    : ranks_(options.ranks_of_sequences()), num_values_(num_values), take_(std::move(take)) {}

int RowResults::owner_of(Index sequence) const {
  return ranks_ == nullptr ? 0 : static_cast<int>(sequence % ranks_->size());
}

bool RowResults::is_own_sequence(Index sequence) const {
  return ranks_ == nullptr || owner_of(sequence) == ranks_->rank();
}

bool RowResults::is_own(const Observation& y) {
  if (sequence_ < 0 || y.begins_sequence()) ++sequence_;
  return is_own_sequence(sequence_);
}

void RowResults::add(std::vector<std::string> texts, std::span<const double> values) {
  if (ranks_ == nullptr) {
    take_(texts, values);
    return;
  }
  waiting_.push_back({owner_of(sequence_), std::move(texts)});
  found_.insert(found_.end(), values.begin(), values.end());
  const std::size_t numbers = waiting_.size() * static_cast<std::size_t>(num_values_);
  if (waiting_.size() == kMostRows || numbers >= kMostNumbers) exchange();
}

void RowResults::exchange() {
  const std::vector<std::string> of_ranks = gather_bytes(*ranks_, bytes_of(found_));
  std::vector<std::size_t> next(of_ranks.size(), 0);
  std::vector<double> values(static_cast<std::size_t>(num_values_));
  const std::size_t size = values.size() * sizeof(double);
  for (const Waiting& row : waiting_) {
    const auto owner = static_cast<std::size_t>(row.owner);
    std::memcpy(values.data(), of_ranks[owner].data() + next[owner], size);
    next[owner] += size;
    take_(row.texts, values);
  }
  waiting_.clear();
  found_.clear();
}

void RowResults::finish(bool quiet) {
  if (ranks_ == nullptr) return;
  if (!waiting_.empty()) exchange();
  if (sequence_ == 0 && ranks_->size() > 1 && !quiet) {
    say("the data are one sequence, so one of {} ranks had all the work\n", ranks_->size());
  }
}
