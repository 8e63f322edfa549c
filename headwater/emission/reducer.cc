#include "headwater/reducer.hpp"

#include <algorithm>
#include <bit>

#include "headwater/parallel/ranks.hpp"

namespace headwater {

namespace {

// A vector to add up in, which keeps its memory for the next one. Sums may be formed inside one
// another, and on several threads.
class Room {
 public:
  explicit Room(std::size_t size) {
    if (rooms.size() <= depth) rooms.emplace_back();
    values_ = std::move(rooms[depth++]);
    values_.resize(size);
  }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  ~Room() { rooms[--depth] = std::move(values_); }

  std::span<double> values() { return values_; }

 private:
  static thread_local std::vector<std::vector<double>> rooms;
  static thread_local std::size_t depth;
  std::vector<double> values_;
};

thread_local std::vector<std::vector<double>> Room::rooms;
thread_local std::size_t Room::depth = 0;

void add_to(std::span<double> out, std::span<const double> values) {
  for (std::size_t i = 0; i < out.size(); ++i) out[i] += values[i];
}

// A node of the tree that has a term: a power of two of blocks, of which the first is a multiple.
struct Node {
  std::span<const Stretch> stretches;
  Index first = 0;
  Index size = 0;

  // Its two halves: either may be without a term, but not both.
  std::pair<Node, Node> halves() const {
    const Index half = size / 2;
    const auto middle = std::ranges::partition_point(
        stretches, [&](const Stretch& stretch) { return stretch.block < first + half; });
    const auto left = static_cast<std::size_t>(middle - stretches.begin());
    return {{stretches.first(left), first, half}, {stretches.subspan(left), first + half, half}};
  }
};

Node root_of(std::span<const Stretch> stretches) {
  const auto blocks = static_cast<std::size_t>(stretches.back().block) + 1;
  return {stretches, 0, static_cast<Index>(std::bit_ceil(blocks))};
}

template <class Add>
void add_up_node(const Node& node, const Add& add, std::span<double> out) {
  if (node.stretches.size() == 1) {
    std::ranges::fill(out, 0);
    add(node.stretches[0], out);
    return;
  }
  const auto [left, right] = node.halves();
  if (right.stretches.empty()) return add_up_node(left, add, out);
  if (left.stretches.empty()) return add_up_node(right, add, out);
  add_up_node(left, add, out);
  Room room(out.size());
  add_up_node(right, add, room.values());
  add_to(out, room.values());
}

// The same among ranks. Returns the rank that has the sum in `out` afterwards.
template <class Add>
int share_node(SharedChannels& shared, const Node& node, const Add& add, std::span<double> out) {
  Ranks& ranks = shared.ranks();
  const int owner = shared.owner_of(node.stretches.front().block);
  if (owner == shared.owner_of(node.stretches.back().block)) {
    if (owner == ranks.rank()) add_up_node(node, add, out);
    return owner;
  }
  const auto [left, right] = node.halves();
  if (right.stretches.empty()) return share_node(shared, left, add, out);
  if (left.stretches.empty()) return share_node(shared, right, add, out);
  const int holder = share_node(shared, left, add, out);
  Room room(out.size());
  const int sender = share_node(shared, right, add, room.values());
  if (sender == ranks.rank() && sender != holder) ranks.send(room.values(), holder);
  if (holder == ranks.rank()) {
    if (sender != holder) ranks.receive(room.values(), sender);
    add_to(out, room.values());
  }
  return holder;
}

}  // namespace

void Reducer::add_up(std::span<const Stretch> stretches, std::span<double> out,
                     const AddStretch& add) {
  if (stretches.empty()) return;
  if (stretches.size() == 1) return add(stretches[0], out);
  Room total(out.size());
  add_up_node(root_of(stretches), add, total.values());
  add_to(out, total.values());
}

// A single block is no more work than a message: all ranks add it up that have its rows.
void Reducer::share(std::span<const Stretch> stretches, std::span<double> out,
                    const AddStretch& add) {
  SharedChannels* const shared = SharedChannels::now();
  if (shared == nullptr || stretches.empty()) return add_up(stretches, out, add);
  if (stretches.size() == 1) {
    return find_by_owner(stretches, out, [&] { add(stretches[0], out); });
  }
  Room total(out.size());
  const int holder = share_node(*shared, root_of(stretches), add, total.values());
  shared->ranks().broadcast(total.values(), holder);
  add_to(out, total.values());
}

void cut_into_stretches(std::span<const Index> channels, std::vector<Stretch>& out) {
  out.clear();
  for (std::size_t first = 0; first < channels.size();) {
    const Index block = channels[first] / Reducer::kBlock;
    const auto next = std::lower_bound(channels.begin() + static_cast<std::ptrdiff_t>(first),
                                       channels.end(), (block + 1) * Reducer::kBlock);
    const auto size = static_cast<std::size_t>(next - channels.begin()) - first;
    out.push_back({first, size, block});
    first += size;
  }
}

std::vector<Stretch> stretches_of_all(Index num_channels) {
  std::vector<Stretch> stretches;
  for (Index first = 0; first < num_channels; first += Reducer::kBlock) {
    stretches.push_back({static_cast<std::size_t>(first),
                         static_cast<std::size_t>(std::min(Reducer::kBlock, num_channels - first)),
                         first / Reducer::kBlock});
  }
  return stretches;
}

void add_column_sums(const Matrix& basis, const Stretch& stretch, std::span<double> to) {
  Eigen::Map<Vector>(to.data(), basis.cols()) +=
      basis.middleRows(static_cast<Index>(stretch.first), static_cast<Index>(stretch.size))
          .colwise()
          .sum()
          .transpose();
}

Vector column_sums(const Matrix& basis) {
  Vector sums = Vector::Zero(basis.cols());
  sum_rows(basis.rows(), as_span(sums), [&](const Stretch& stretch, std::span<double> to) {
    add_column_sums(basis, stretch, to);
  });
  return sums;
}

void sum_rows(Index num_rows, std::span<double> out,
              const std::function<void(const Stretch&, std::span<double>)>& add) {
  const Index num_channels = num_channels_of(num_rows);
  const auto first = static_cast<std::size_t>(kept_rows(num_channels).first);
  const auto add_kept = [&](const Stretch& stretch, std::span<double> to) {
    add({stretch.first - first, stretch.size, stretch.block}, to);
  };
  const std::vector<Stretch> stretches = stretches_of_all(num_channels);
  if (SharedChannels::of_own_rows() != nullptr) {
    Reducer::shared_sum(stretches, out, add_kept);
  } else {
    Reducer::sum(stretches, out, add_kept);
  }
}

}  // namespace headwater
