#pragma once

#include <mpi.h>

#include <vector>

#include "headwater/parallel/ranks.hpp"

// The processes that mpirun has started. MPI is initialised while this object lives.
class MpiRanks final : public headwater::Ranks {
 public:
  MpiRanks(int& argc, char**& argv);
  ~MpiRanks() override;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void send(std::span<const double> values, int to) override;
  void receive(std::span<double> values, int from) override;
  void broadcast(std::span<double> values, int from) override;
  void gather(std::span<double> values, std::span<const headwater::Index> counts) override;

  // For a rank that has failed: whether all of them have, within a few seconds. Ranks that meet the
  // same error do; if one of them fails alone, the others wait for its messages.
  bool have_all_failed();
  [[noreturn]] void end_all(int status);

 private:
  int rank_ = 0;
  int size_ = 1;
  MPI_Comm failures_ = MPI_COMM_NULL;
  std::vector<int> counts_;
  std::vector<int> offsets_;
};
