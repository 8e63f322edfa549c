#pragma once

#include <algorithm>
#include <cassert>
#include <functional>
#include <memory>

#include "headwater/core/matrix.hpp"

namespace headwater {

// A fixed number of threads, the caller's among them, that share the tasks of one call. Which
// thread does a task, and when, is open; as long as no task reads or writes what another one
// writes, the results do not depend on the number of threads.
class ThreadPool {
 public:
  // 1 starts no thread: everything runs on the caller. Throws UsageError below 1.
  explicit ThreadPool(int num_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int num_threads() const;

  // Calls task(0), ..., task(num_tasks - 1), taken up in this order, and returns when all are
  // done. All of them run even if some throw; the exception of the lowest then goes to the caller.
  // A call from inside a task, or while another thread's call is under way, runs on its caller.
  void run(Index num_tasks, const std::function<void(Index task)>& task) const;

 private:
  class Crew;
  std::unique_ptr<Crew> crew_;  // none for a single thread
};

// Cuts [0, count) into chunks of `chunk_size` (the last may be smaller) and calls
// f(first, size, chunk) for each. The cut does not depend on the number of threads: sums over each
// chunk, added up in the order of the chunks, are the same bits for any number.
template <class F>
void for_each_chunk(const ThreadPool& pool, Index count, Index chunk_size, const F& f) {
  assert(chunk_size > 0);
  const auto task = [&](Index chunk) {
    const Index first = chunk * chunk_size;
    f(first, std::min(chunk_size, count - first), chunk);
  };
  pool.run((count + chunk_size - 1) / chunk_size, std::cref(task));  // cref: nothing is allocated
}

}  // namespace headwater
