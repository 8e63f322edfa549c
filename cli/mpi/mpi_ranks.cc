#include "mpi_ranks.hpp"

#include <chrono>
#include <cstdlib>
#include <limits>
#include <thread>

#include "headwater/error.hpp"

using headwater::Index;

namespace {

constexpr std::chrono::seconds kPatience{3};
constexpr std::chrono::milliseconds kPause{10};
// MPI counts by int; longer messages go in several parts.
constexpr std::size_t kLongest = std::size_t{1} << 28;

template <class Send>
void in_parts(std::size_t size, const Send& send) {
  for (std::size_t first = 0; first < size; first += kLongest) {
    send(first, static_cast<int>(std::min(kLongest, size - first)));
  }
}

}  // namespace

MpiRanks::MpiRanks(int& argc, char**& argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  MPI_Comm_dup(MPI_COMM_WORLD, &failures_);
  counts_.resize(static_cast<std::size_t>(size_));
  offsets_.resize(counts_.size());
}

MpiRanks::~MpiRanks() { MPI_Finalize(); }

void MpiRanks::send(std::span<const double> values, int to) {
  in_parts(values.size(), [&](std::size_t first, int size) {
    MPI_Send(values.data() + first, size, MPI_DOUBLE, to, 0, MPI_COMM_WORLD);
  });
}

void MpiRanks::receive(std::span<double> values, int from) {
  in_parts(values.size(), [&](std::size_t first, int size) {
    MPI_Recv(values.data() + first, size, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  });
}

void MpiRanks::broadcast(std::span<double> values, int from) {
  in_parts(values.size(), [&](std::size_t first, int size) {
    MPI_Bcast(values.data() + first, size, MPI_DOUBLE, from, MPI_COMM_WORLD);
  });
}

void MpiRanks::gather(std::span<double> values, std::span<const Index> counts) {
  if (values.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    std::size_t first = 0;
    for (int rank = 0; rank < size_; ++rank) {
      const auto size = static_cast<std::size_t>(counts[static_cast<std::size_t>(rank)]);
      broadcast(values.subspan(first, size), rank);
      first += size;
    }
    return;
  }
  int offset = 0;
  for (std::size_t rank = 0; rank < counts_.size(); ++rank) {
    counts_[rank] = static_cast<int>(counts[rank]);
    offsets_[rank] = offset;
    offset += counts_[rank];
  }
  MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, values.data(), counts_.data(), offsets_.data(),
                 MPI_DOUBLE, MPI_COMM_WORLD);
}

bool MpiRanks::have_all_failed() {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(failures_, &request);
  int is_done = 0;
  const auto end = std::chrono::steady_clock::now() + kPatience;
  for (;;) {
    MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    if (is_done != 0 || std::chrono::steady_clock::now() > end) return is_done != 0;
    std::this_thread::sleep_for(kPause);
  }
}

void MpiRanks::end_all(int status) {
  MPI_Abort(MPI_COMM_WORLD, status);
  std::_Exit(status);
}
