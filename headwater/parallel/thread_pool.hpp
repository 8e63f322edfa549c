#pragma once

#include <algorithm>
#include <cassert>
#include <functional>
#include <memory>

#include "headwater/matrix.hpp"

namespace headwater {

// A fixed number of threads, including the caller's, that share the tasks of one call. Which thread
// runs a task, and when, is unspecified. If no task reads or writes data that another task writes,
// the results do not depend on the number of threads.
class ThreadPool {
 public:
  // With 1, no thread is started and everything runs on the caller. Throws UsageError below 1.
  explicit ThreadPool(int num_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int num_threads() const;

  // Calls task(0), ..., task(num_tasks - 1), started in this order, and returns when all have
  // finished. All tasks run even if some throw; the exception of the lowest-numbered one is then
  // rethrown. A call from inside a task, or during another thread's call, runs on its caller alone.
  void run(Index num_tasks, const std::function<void(Index task)>& task) const;
  // The same for tasks that take long: while the caller waits for others, it calls `meanwhile` a
  // hundred times a second. `meanwhile` must not throw.
  void run(Index num_tasks, const std::function<void(Index task)>& task,
           const std::function<void()>& meanwhile) const;

 private:
  class Crew;
  std::unique_ptr<Crew> crew_;  // null for a single thread
};

// Divides [0, count) into chunks of `chunk_size` (the last may be smaller) and calls f(first, size,
// chunk) for each. The division does not depend on the number of threads: sums per chunk, added in
// the order of the chunks, have the same bits for any number of threads.
template <class F>
void for_each_chunk(const ThreadPool& pool, Index count, Index chunk_size, const F& f) {
  assert(chunk_size > 0);
  const auto task = [&](Index chunk) {
    const Index first = chunk * chunk_size;
    f(first, std::min(chunk_size, count - first), chunk);
  };
  pool.run((count + chunk_size - 1) / chunk_size, std::cref(task));  // cref avoids an allocation
}

}  // namespace headwater
