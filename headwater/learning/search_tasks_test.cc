#include "headwater/learning/search_tasks.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace headwater {
namespace {

const std::vector<int> kNumbersOfThreads = {1, 2, 3};

struct Stop : std::runtime_error {
  Stop() : std::runtime_error("stop") {}
};

TEST(SearchTasks, AreAllDone) {
  for (const int num_threads : kNumbersOfThreads) {
    const ThreadPool pool(num_threads);
    SearchTasks tasks(pool, {});
    std::vector<int> times(7, 0);
    tasks.run(7, [&](Index i) {
      tasks.tell();
      ++times[i];
    });
    EXPECT_EQ(times, std::vector<int>(7, 1));
  }
}

TEST(SearchTasks, TellTheListenerOnTheThreadOfTheCaller) {
  for (const int num_threads : kNumbersOfThreads) {
    const ThreadPool pool(num_threads);
    const auto caller = std::this_thread::get_id();
    std::int64_t most = 0;
    SearchTasks tasks(pool, [&](std::int64_t done, std::int64_t all) {
      EXPECT_EQ(std::this_thread::get_id(), caller);
      EXPECT_EQ(all, 20);
      EXPECT_GE(done, most);
      most = done;
    });
    tasks.set_steps(0, 20);
    tasks.run(20, [&](Index) {
      for (int i = 0; i < 10; ++i) tasks.tell();
      tasks.count_step();
    });
    tasks.run(1, [&](Index) { tasks.tell(); });
    EXPECT_EQ(most, 20);
  }
}

// The caller has nothing left to do, and the other task ends only when the listener was told.
TEST(SearchTasks, TellTheListenerWhileTheCallerWaits) {
  const ThreadPool pool(2);
  const auto caller = std::this_thread::get_id();
  std::atomic<int> arrived = 0;
  std::atomic<bool> is_told = false;
  SearchTasks tasks(pool, [&](std::int64_t, std::int64_t) { is_told = true; });
  tasks.run(2, [&](Index) {
    ++arrived;
    while (arrived < 2) std::this_thread::yield();  // both threads have a task
    if (std::this_thread::get_id() == caller) return;
    while (!is_told) std::this_thread::yield();
  });
  EXPECT_TRUE(is_told);
}

TEST(SearchTasks, EndWhereTheListenerThrows) {
  for (const int num_threads : kNumbersOfThreads) {
    const ThreadPool pool(num_threads);
    int calls = 0;
    SearchTasks tasks(pool, [&](std::int64_t, std::int64_t) {
      if (++calls == 3) throw Stop();
    });
    std::atomic<int> ended = 0;
    const auto endless = [&](Index) {
      while (true) tasks.tell();
      ++ended;
    };
    EXPECT_THROW(tasks.run(8, endless), Stop);
    EXPECT_EQ(calls, 3);
    EXPECT_EQ(ended, 0);
  }
}

// The same while the caller only waits.
TEST(SearchTasks, EndWhereTheListenerThrowsInBetween) {
  const ThreadPool pool(2);
  const auto caller = std::this_thread::get_id();
  std::atomic<int> arrived = 0;
  SearchTasks tasks(pool, [&](std::int64_t, std::int64_t) { throw Stop(); });
  const auto task = [&](Index) {
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
    while (std::this_thread::get_id() != caller) tasks.tell();
  };
  EXPECT_THROW(tasks.run(2, task), Stop);
}

TEST(SearchTasks, PassOnTheErrorOfATask) {
  for (const int num_threads : kNumbersOfThreads) {
    const ThreadPool pool(num_threads);
    SearchTasks tasks(pool, [](std::int64_t, std::int64_t) {});
    const auto task = [&](Index i) {
      tasks.tell();
      if (i == 2) throw std::out_of_range("task 2");
    };
    EXPECT_THROW(tasks.run(5, task), std::out_of_range);
  }
}

}  // namespace
}  // namespace headwater
