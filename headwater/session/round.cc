#include "headwater/round.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "headwater/core/state_checks.hpp"
#include "headwater/error.hpp"
#include "headwater/session/round_state.hpp"

namespace headwater {

namespace {

constexpr std::int32_t kHighestLevel = 40;

// Ends before the state of a Statistics was changed.
constexpr std::int32_t kFormatOfStatistics = 1;

}  // namespace

std::int64_t SequenceRound::first() const { return state_->first; }
std::string SequenceRound::bytes() const { return state_->bytes(); }

void RoundStatistics::Tree::Node::exchange(StateArchive& archive) {
  archive(level, position, sums);
  archive.expect(level >= 0 && level <= kHighestLevel && is_count(position) && is_count(end()),
                 "an invalid place in a round");
}

RoundStatistics::Tree::Tree(std::int64_t first, std::int64_t place, RoundSums sums)
    : first_(first) {
  nodes_.push_back({0, place, std::move(sums)});
}

void RoundStatistics::Tree::merge(const Tree& other) {
  if (other.nodes_.empty()) return;
  if (nodes_.empty()) first_ = other.first_;
  if (first_ != other.first_) {
    throw UsageError(fmt::format(
        "statistics of the rounds that begin with sequence {} and sequence {} cannot be merged",
        first_ + 1, other.first_ + 1));
  }
  if (!nodes_.empty() && !nodes_.front().sums.fits(other.nodes_.front().sums)) {
    throw UsageError("statistics of different models cannot be merged");
  }
  for (const Node& node : other.nodes_) {
    const auto after = std::ranges::lower_bound(nodes_, node.begin(), {}, &Node::begin);
    const bool meets_after = after != nodes_.end() && after->begin() < node.end();
    const bool meets_before = after != nodes_.begin() && std::prev(after)->end() > node.begin();
    if (meets_after || meets_before) {
      const std::int64_t twice =
          std::max(node.begin(), meets_before ? std::prev(after)->begin() : after->begin());
      throw UsageError(
          fmt::format("sequence {} is in both of the statistics to be merged", first_ + twice + 1));
    }
    nodes_.insert(after, node);
  }
  join_neighbours();
}

// Each sum that is formed replaces two, and may be the left or the right half of a larger one.
void RoundStatistics::Tree::join_neighbours() {
  for (std::size_t i = 0; i + 1 < nodes_.size();) {
    Node& left = nodes_[i];
    const Node& right = nodes_[i + 1];
    const bool are_halves =
        left.level == right.level && left.position % 2 == 0 && right.position == left.position + 1;
    if (!are_halves) {
      ++i;
      continue;
    }
    left.sums.add(right.sums);
    ++left.level;
    left.position /= 2;
    nodes_.erase(nodes_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    if (i > 0) --i;
  }
}

// A round that does not fill its tree ends with smaller and smaller subtrees, which are added from
// the last one on.
RoundSums RoundStatistics::Tree::root() const {
  std::int64_t end = 0;
  for (const Node& node : nodes_) {
    if (node.begin() != end) {
      throw UsageError(
          fmt::format("the statistics of the round lack sequence {}", first_ + end + 1));
    }
    end = node.end();
  }
  if (nodes_.empty()) throw UsageError("the statistics are of no sequence");
  RoundSums sums = nodes_.back().sums;
  for (std::size_t i = nodes_.size() - 1; i > 0; --i) {
    RoundSums before = nodes_[i - 1].sums;
    before.add(sums);
    sums = std::move(before);
  }
  return sums;
}

void RoundStatistics::Tree::exchange(StateArchive& archive) {
  std::int32_t format = kFormatOfStatistics;
  archive(format);
  archive.expect(format == kFormatOfStatistics, "statistics of another version");
  archive(first_, nodes_);
  archive.expect(is_count(first_), "an invalid sequence");
  for (std::size_t i = 1; i < nodes_.size(); ++i) {
    archive.expect(nodes_[i - 1].end() <= nodes_[i].begin() && nodes_[0].sums.fits(nodes_[i].sums),
                   "statistics that do not belong together");
  }
}

RoundStatistics::RoundStatistics() : RoundStatistics(Tree()) {}
RoundStatistics::RoundStatistics(Tree tree) : tree_(std::make_unique<Tree>(std::move(tree))) {}
RoundStatistics::RoundStatistics(const RoundStatistics& other) : RoundStatistics(*other.tree_) {}
RoundStatistics::RoundStatistics(RoundStatistics&& other) noexcept = default;
RoundStatistics& RoundStatistics::operator=(const RoundStatistics& other) {
  if (this != &other) tree_ = std::make_unique<Tree>(*other.tree_);
  return *this;
}
RoundStatistics& RoundStatistics::operator=(RoundStatistics&& other) noexcept = default;
RoundStatistics::~RoundStatistics() = default;

void RoundStatistics::merge(const RoundStatistics& other) { tree_->merge(*other.tree_); }

std::int64_t RoundStatistics::sequences() const {
  std::int64_t sum = 0;
  for (const Tree::Node& node : tree_->nodes()) sum += node.sums.sequences;
  return sum;
}

std::int64_t RoundStatistics::observations() const {
  std::int64_t sum = 0;
  for (const Tree::Node& node : tree_->nodes()) sum += node.sums.observations;
  return sum;
}

double RoundStatistics::log_likelihood() const {
  double sum = 0;
  for (const Tree::Node& node : tree_->nodes()) sum += node.sums.log_likelihood;
  return sum;
}

std::string RoundStatistics::bytes() const {
  StateArchive archive;
  Tree copy = *tree_;
  archive(copy);
  return archive.bytes();
}

RoundStatistics RoundStatistics::of_bytes(const std::string& bytes) {
  StateArchive archive(bytes);
  Tree tree;
  archive(tree);
  archive.expect_end();
  return RoundStatistics(std::move(tree));
}

}  // namespace headwater
