#include "headwater/parallel/thread_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "headwater/error.hpp"

namespace headwater {
namespace {

const std::vector<int> kNumbersOfThreads = {1, 2, 3, 8};

TEST(ThreadPool, DoesEveryTaskOnceAndCanBeUsedAgain) {
  for (const int num_threads : kNumbersOfThreads) {
    const ThreadPool pool(num_threads);
    EXPECT_EQ(pool.num_threads(), num_threads);
    for (Index num_tasks = 0; num_tasks < 300; ++num_tasks) {
      std::vector<int> times(num_tasks, 0);
      pool.run(num_tasks, [&](Index task) { ++times[task]; });
      EXPECT_EQ(times, std::vector<int>(num_tasks, 1));
    }
  }
}

// Waits until every thread has gone to sleep.
TEST(ThreadPool, WakesUpAgain) {
  const ThreadPool pool(4);
  for (int call = 0; call < 5; ++call) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::atomic<int> count = 0;
    pool.run(100, [&](Index) { ++count; });
    EXPECT_EQ(count, 100);
  }
}

TEST(ThreadPool, StartsAndStopsWithoutWork) {
  for (const int num_threads : kNumbersOfThreads) {
    for (int i = 0; i < 20; ++i) const ThreadPool pool(num_threads);
  }
}

TEST(ThreadPool, SharesTheTasksAmongAllThreads) {
  constexpr int kThreads = 4;
  const ThreadPool pool(kThreads);
  std::atomic<int> arrived = 0;
  // Each task waits for all the others, so this ends only if each task has its own thread.
  pool.run(kThreads, [&](Index) {
    ++arrived;
    while (arrived < kThreads) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, kThreads);
}

TEST(ThreadPool, OfOneThreadRunsOnTheCallerInOrder) {
  const ThreadPool pool(1);
  const auto caller = std::this_thread::get_id();
  std::vector<Index> order;
  pool.run(5, [&](Index task) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    order.push_back(task);
  });
  EXPECT_EQ(order, (std::vector<Index>{0, 1, 2, 3, 4}));
}

TEST(ThreadPool, PassesOnTheExceptionOfTheLowestTaskAndDoesTheOthers) {
  for (const int num_threads : kNumbersOfThreads) {
    const ThreadPool pool(num_threads);
    for (int call = 0; call < 50; ++call) {
      std::atomic<int> count = 0;
      const auto task = [&](Index i) {
        ++count;
        if (i % 7 == 3) throw std::runtime_error(std::to_string(i));
      };
      try {
        pool.run(40, task);
        FAIL() << "nothing was thrown";
      } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "3");
      }
      EXPECT_EQ(count, 40);
    }
    std::atomic<int> count = 0;
    pool.run(10, [&](Index) { ++count; });
    EXPECT_EQ(count, 10);
  }
}

TEST(ThreadPool, RunsACallFromInsideATaskOnItsThread) {
  for (const int num_threads : kNumbersOfThreads) {
    const ThreadPool pool(num_threads);
    std::vector<std::vector<int>> times(20, std::vector<int>(30, 0));
    pool.run(20, [&](Index outer) {
      const auto thread = std::this_thread::get_id();
      pool.run(30, [&](Index inner) {
        EXPECT_EQ(std::this_thread::get_id(), thread);
        ++times[outer][inner];
      });
    });
    EXPECT_EQ(times, std::vector<std::vector<int>>(20, std::vector<int>(30, 1)));
  }
}

TEST(ThreadPool, CallsMeanwhileOnTheCallerThatWaits) {
  const ThreadPool pool(2);
  const auto caller = std::this_thread::get_id();
  std::atomic<int> arrived = 0;
  std::atomic<int> calls = 0;
  const auto task = [&](Index) {
    ++arrived;
    while (arrived < 2) std::this_thread::yield();  // each thread has a task
    if (std::this_thread::get_id() == caller) return;
    while (calls < 3) std::this_thread::yield();
  };
  pool.run(2, task, [&] {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    ++calls;
  });
  EXPECT_GE(calls, 3);
}

TEST(ThreadPool, DoesEveryTaskOnceWithSomethingMeanwhile) {
  for (const int num_threads : kNumbersOfThreads) {
    const ThreadPool pool(num_threads);
    for (const Index num_tasks : {0, 1, 2, 40}) {
      std::vector<int> times(num_tasks, 0);
      pool.run(
          num_tasks, [&](Index task) { ++times[task]; }, [] {});
      EXPECT_EQ(times, std::vector<int>(num_tasks, 1));
    }
  }
}

TEST(ThreadPool, TakesCallsFromSeveralThreads) {
  const ThreadPool pool(3);
  std::vector<std::vector<int>> times(4, std::vector<int>(50, 0));
  std::vector<std::thread> callers;
  for (std::vector<int>& mine : times) {
    callers.emplace_back([&] {
      for (int call = 0; call < 100; ++call) pool.run(50, [&](Index task) { ++mine[task]; });
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(times, std::vector<std::vector<int>>(4, std::vector<int>(50, 100)));
}

TEST(ThreadPool, NeedsAThread) {
  for (const int num_threads : {0, -3}) EXPECT_THROW(ThreadPool{num_threads}, UsageError);
}

struct Chunk {
  Index first = -1;
  Index size = -1;
  bool operator==(const Chunk&) const = default;
};

std::vector<Chunk> chunks(const ThreadPool& pool, Index count, Index chunk_size) {
  std::vector<Chunk> found((count + chunk_size - 1) / chunk_size);
  for_each_chunk(pool, count, chunk_size, [&](Index first, Index size, Index chunk) {
    found[chunk] = {first, size};
  });
  return found;
}

TEST(ForEachChunk, CutsTheSameWayWhateverTheThreads) {
  for (const int num_threads : kNumbersOfThreads) {
    const ThreadPool pool(num_threads);
    EXPECT_EQ(chunks(pool, 10, 4), (std::vector<Chunk>{{0, 4}, {4, 4}, {8, 2}}));
    EXPECT_EQ(chunks(pool, 8, 4), (std::vector<Chunk>{{0, 4}, {4, 4}}));
    EXPECT_EQ(chunks(pool, 3, 4), (std::vector<Chunk>{{0, 3}}));
    EXPECT_EQ(chunks(pool, 0, 4), std::vector<Chunk>{});
  }
}

double chunked_sum(const ThreadPool& pool, const std::vector<double>& numbers) {
  constexpr Index kChunkSize = 64;
  const auto count = static_cast<Index>(numbers.size());
  std::vector<double> sums((count + kChunkSize - 1) / kChunkSize, 0.0);
  for_each_chunk(pool, count, kChunkSize, [&](Index first, Index size, Index chunk) {
    for (Index i = first; i < first + size; ++i) sums[chunk] += numbers[i];
  });
  double sum = 0;
  for (const double part : sums) sum += part;
  return sum;
}

TEST(ForEachChunk, GivesSumsOfTheSameBitsWhateverTheThreads) {
  std::vector<double> numbers(10'000);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = 1.0 / static_cast<double>(i + 1);
  const double expected = chunked_sum(ThreadPool(1), numbers);
  for (const int num_threads : kNumbersOfThreads) {
    EXPECT_EQ(chunked_sum(ThreadPool(num_threads), numbers), expected);
  }
}

}  // namespace
}  // namespace headwater
