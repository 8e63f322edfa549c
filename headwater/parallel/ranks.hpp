#pragma once

#include <span>
#include <string>
#include <vector>

#include "headwater/channels.hpp"
#include "headwater/matrix.hpp"

namespace headwater {

// The processes that work on one problem together, as one of them sees them. All of them run the
// same program on the same data and keep the same state; they differ in which sums over channels
// they form. cli/mpi has the only implementation that is no test's: by MPI.
//
// Every process makes the same calls in the same order, all on one thread.
class Ranks {
 public:
  virtual ~Ranks() = default;
  virtual int rank() const = 0;  // of this process: 0 to size() - 1
  virtual int size() const = 0;

  virtual void send(std::span<const double> values, int to) = 0;
  virtual void receive(std::span<double> values, int from) = 0;
  // The values of one rank become those of all.
  virtual void broadcast(std::span<double> values, int from) = 0;
  // `values` has a part for each rank, of counts[rank] numbers, one after the other. Each rank
  // comes with its own part, and has all of them afterwards.
  virtual void gather(std::span<double> values, std::span<const Index> counts) = 0;
};

// The bytes that each rank comes with, for all of them, in the order of the ranks.
std::vector<std::string> gather_bytes(Ranks& ranks, const std::string& own);

// As long as this object lives, the sums over channels that are formed on its thread are shared
// among ranks: each forms those of its own blocks of channels (see Reducer). There is one at a time
// on a thread. Other threads form all sums themselves, with the same result.
class SharedChannels {
 public:
  SharedChannels(Ranks& ranks, Index num_channels, Index block);
  SharedChannels(const SharedChannels&) = delete;
  SharedChannels& operator=(const SharedChannels&) = delete;
  ~SharedChannels();

  // That of the calling thread; null if there is none, or if no two ranks have work.
  static SharedChannels* now();
  // The same; null, too, where every rank keeps all rows.
  static SharedChannels* of_own_rows();

  // From here on, of matrices with a row for each channel, each rank keeps the rows of its own
  // channels alone (see kept_rows()). Every rank has work.
  void keep_own_rows() { keeps_own_rows_ = true; }
  bool keeps_own_rows() const { return keeps_own_rows_; }
  // Each rank comes with the rows that it keeps. The first one has all afterwards, others none.
  void collect_rows(Matrix& rows);
  // From here on every rank works alone.
  void end();

  Ranks& ranks() const { return ranks_; }
  Index num_channels() const { return num_channels_; }
  Index num_blocks() const { return num_blocks_; }
  int owner_of(Index block) const;
  // The channels of a rank: from first_channel(rank) to first_channel(rank + 1). A rank has none
  // if there are fewer blocks than ranks.
  Index first_channel(int rank) const { return first_channels_[static_cast<std::size_t>(rank)]; }
  Index first_own() const { return first_channel(ranks_.rank()); }
  Index end_of_own() const { return first_channel(ranks_.rank() + 1); }

  int num_at_work() const { return num_at_work_; }  // ranks that have a block

  // Each rank comes with the rows of its own channels, and has all rows afterwards.
  void gather_rows(Eigen::Ref<Matrix> rows);
  // The same for a list with one number for each of some channels, which ascend.
  void gather_list(std::span<const Index> channels, std::span<double> values);

 private:
  Ranks& ranks_;
  Index num_channels_;
  Index num_blocks_;
  int num_at_work_ = 0;
  bool keeps_own_rows_ = false;
  std::vector<Index> first_blocks_;  // of each rank, and where the last one ends
  std::vector<Index> first_channels_;
  std::vector<Index> counts_;
};

// The channels whose rows this process keeps: all, or its own where ranks keep their own rows. Row
// i of a matrix is that of channel first + i.
struct KeptRows {
  Index first = 0;
  Index size = 0;

  bool has(Index channel) const { return channel >= first && channel < first + size; }
};
KeptRows kept_rows(Index num_channels);
// How many channels there are, given the number of rows that this process keeps.
Index num_channels_of(Index num_rows);
// The part of a list of channels, which ascend, whose rows this process keeps.
Stretch kept_part(std::span<const Index> channels, Index num_channels);

// Calls work(), which changes the values channel by channel, by the rows that this process keeps.
// Where ranks keep their own rows, each goes on from what the one before it has left, and all have
// the last values.
template <class Work>
void in_turn(std::span<double> values, const Work& work) {
  SharedChannels* const shared = SharedChannels::of_own_rows();
  if (shared == nullptr) return work();
  Ranks& ranks = shared->ranks();
  const int last = ranks.size() - 1;
  if (ranks.rank() > 0) ranks.receive(values, ranks.rank() - 1);
  work();
  if (ranks.rank() < last) ranks.send(values, ranks.rank() + 1);
  ranks.broadcast(values, last);
}

// Calls find(), which writes `out` and needs the rows of the channels of one block at most. Where
// ranks keep their own rows, the one that has them finds `out` for all.
template <class Find>
void find_by_owner(std::span<const Stretch> stretches, std::span<double> out, const Find& find) {
  SharedChannels* const shared = SharedChannels::of_own_rows();
  if (shared == nullptr || stretches.empty()) return find();
  const int owner = shared->owner_of(stretches.front().block);
  if (owner == shared->ranks().rank()) find();
  shared->ranks().broadcast(out, owner);
}

}  // namespace headwater
