#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>

#include "headwater/parallel/thread_pool.hpp"

namespace headwater {

// Told of so many steps of all, several times in each. The search ends where it throws.
using OnSearch = std::function<void(std::int64_t done, std::int64_t all)>;

// The tasks of a search, on threads. Whoever listens is told on the thread that has called run(),
// also while that thread waits for others: a listener need not be safe for threads, and one that
// wants to stop the search is asked often enough. When it throws, every task ends at its next
// tell(), and run() throws what the listener has thrown.
class SearchTasks {
 public:
  SearchTasks(const ThreadPool& pool, OnSearch on_search)
      : pool_(pool), on_search_(std::move(on_search)) {}

  int num_threads() const { return pool_.num_threads(); }

  // What the listener is told from here on.
  void set_steps(std::int64_t done, std::int64_t all) {
    done_ = done;
    all_ = all;
  }
  void count_step() { ++done_; }

  // See ThreadPool. Not from inside a task.
  void run(Index num_tasks, const std::function<void(Index task)>& task);
  // To be called by tasks now and then.
  void tell();

 private:
  struct Stopped {};
  void tell_listener() noexcept;

  const ThreadPool& pool_;
  OnSearch on_search_;
  std::atomic<std::int64_t> done_ = 0;
  std::int64_t all_ = 0;
  std::thread::id caller_;
  std::atomic<bool> is_stopped_ = false;
  std::exception_ptr why_;  // it was stopped; of the caller's thread
};

}  // namespace headwater
