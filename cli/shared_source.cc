#include "shared_source.hpp"

#include <algorithm>
#include <utility>

#include "headwater/error.hpp"

using namespace headwater;

SharedSource::SharedSource(std::unique_ptr<ObservationSource> rows, const SharedChannels& channels)
    : rows_(std::move(rows)), ranks_(channels.ranks()), first_own_(channels.first_own()) {}

// An error of one rank is one of all: they throw the same.
bool SharedSource::next(Observation& y) {
  Outcome outcome = Outcome::kRow;
  std::string message;
  own_.clear();
  try {
    if (rows_->next(values_)) {
      find_own();
    } else {
      outcome = Outcome::kEnd;
    }
  } catch (const BadRow& error) {
    outcome = Outcome::kBadRow;
    message = error.what();
  } catch (const InputError& error) {
    outcome = Outcome::kError;
    message = error.what();
  }
  tell(outcome);
  for (const Outcome trouble : {Outcome::kError, Outcome::kBadRow}) {
    if (has_any(trouble)) throw_common(trouble, outcome == trouble ? message : "");
  }
  if (has_any(Outcome::kEnd)) return false;
  hand_round();
  y.begin(num_channels());
  for (std::size_t i = 0; i < found_.size(); i += 2) {
    y.add(static_cast<Index>(found_[i]), found_[i + 1]);
  }
  y.set_begins_sequence(begins_sequence());
  return true;
}

// Counts, and NaN for missing cells.
void SharedSource::find_own() {
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (values_[i] == 0) continue;
    own_.push_back(static_cast<double>(first_own_ + static_cast<Index>(i)));
    own_.push_back(values_[i]);
  }
}

void SharedSource::tell(Outcome outcome) {
  const auto size = static_cast<std::size_t>(ranks_.size());
  const auto here = static_cast<std::size_t>(ranks_.rank());
  told_.assign(2 * size, 0);
  told_[2 * here] = static_cast<double>(outcome);
  told_[2 * here + 1] = static_cast<double>(own_.size());
  counts_.assign(size, 2);
  ranks_.gather(told_, counts_);
}

bool SharedSource::has_any(Outcome outcome) const {
  for (std::size_t i = 0; i < told_.size(); i += 2) {
    if (told_[i] == static_cast<double>(outcome)) return true;
  }
  return false;
}

// The first rank that has met it is the one with the first columns.
void SharedSource::throw_common(Outcome outcome, const std::string& own_message) const {
  std::string message;
  for (const std::string& text : gather_bytes(ranks_, own_message)) {
    if (message.empty()) message = text;
  }
  if (outcome == Outcome::kBadRow) throw BadRow(message);
  throw InputError(message);
}

// Ranks have their channels in the order of ranks.
void SharedSource::hand_round() {
  const auto here = static_cast<std::size_t>(ranks_.rank());
  std::size_t all = 0;
  std::size_t before = 0;
  for (std::size_t rank = 0; rank < counts_.size(); ++rank) {
    counts_[rank] = static_cast<Index>(told_[2 * rank + 1]);
    if (rank < here) before += static_cast<std::size_t>(counts_[rank]);
    all += static_cast<std::size_t>(counts_[rank]);
  }
  found_.resize(all);
  std::ranges::copy(own_, found_.begin() + static_cast<std::ptrdiff_t>(before));
  ranks_.gather(found_, counts_);
}

bool SharedSource::next(std::vector<double>& values) {
  Observation y;
  if (!next(y)) return false;
  values.resize(static_cast<std::size_t>(num_channels()));
  y.write_counts(values);
  return true;
}
