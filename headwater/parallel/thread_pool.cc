#include "headwater/parallel/thread_pool.hpp"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "headwater/error.hpp"

namespace headwater {

namespace {

using Task = std::function<void(Index)>;
using Meanwhile = std::function<void()>;

// Longer than what one thread does alone between two calls of a step. Going to sleep and waking up
// take some 50 us, on virtual machines more: with a thread that slept in between, a step of 20,000
// particles took as long as on one thread.
constexpr auto kLongestSpin = std::chrono::microseconds(200);
constexpr auto kBetweenCalls = std::chrono::milliseconds(10);  // of `meanwhile`

void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

template <class Condition>
bool spin_until(const Condition& holds) {
  const auto end = std::chrono::steady_clock::now() + kLongestSpin;
  while (std::chrono::steady_clock::now() < end) {
    if (holds()) return true;
    pause_briefly();
  }
  return holds();
}

// Keeps the exception of the lowest-numbered task that threw.
class FirstFailure {
 public:
  void run(const Task& task, Index index) {
    try {
      task(index);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (exception_ == nullptr || index < index_) {
        exception_ = std::current_exception();
        index_ = index;
      }
    }
  }

  void rethrow() const {
    if (exception_ != nullptr) std::rethrow_exception(exception_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr exception_;
  Index index_ = 0;
};

void run_inline(Index num_tasks, const Task& task) {
  FirstFailure failure;
  for (Index i = 0; i < num_tasks; ++i) failure.run(task, i);
  failure.rethrow();
}

}  // namespace

// The threads and the call that they work on. A thread owns a task once it has decremented
// `unclaimed_`, and the call cannot end before that task has decremented `unfinished_`. The call's
// data are written before its first claim and are read only after a claim, so even a late thread
// reads those of the current call. No thread needs to know which call it works for.
class ThreadPool::Crew {
 public:
  explicit Crew(int num_threads)
      : spins_(std::thread::hardware_concurrency() >= static_cast<unsigned>(num_threads)) {
    try {
      for (int i = 1; i < num_threads; ++i) threads_.emplace_back([this] { wait_and_work(); });
    } catch (const std::system_error& error) {
      dismiss();
      throw Error(fmt::format("cannot start {} threads: {}", num_threads, error.what()));
    }
  }

  ~Crew() { dismiss(); }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  int num_threads() const { return static_cast<int>(threads_.size()) + 1; }

  // Returns false if a call is already running, even if this call comes from one of its tasks.
  bool run(Index num_tasks, const Task& task, const Meanwhile* meanwhile) {
    if (is_busy_.exchange(true, std::memory_order_acquire)) return false;
    FirstFailure failure;
    publish(num_tasks, task, failure);
    work();
    if (meanwhile != nullptr) {
      call_until_done(*meanwhile);
    } else {
      wait_for_the_others();
    }
    is_busy_.store(false, std::memory_order_release);
    failure.rethrow();
    return true;
  }

 private:
  void publish(Index num_tasks, const Task& task, FirstFailure& failure) {
    {
      const std::lock_guard lock(mutex_);
      ++calls_;
      num_tasks_ = num_tasks;
      task_ = &task;
      failure_ = &failure;
      unfinished_.store(num_tasks, std::memory_order_relaxed);
      unclaimed_.store(num_tasks, std::memory_order_release);
    }
    wake_.notify_all();
  }

  // Claims a task. Returns the number of unclaimed tasks including this one, or 0 if none is left.
  Index claim() {
    Index unclaimed = unclaimed_.load(std::memory_order_relaxed);
    while (unclaimed > 0 &&
           !unclaimed_.compare_exchange_weak(unclaimed, unclaimed - 1, std::memory_order_acquire,
                                             std::memory_order_relaxed)) {
    }
    return unclaimed;
  }

  void work() {
    for (Index unclaimed = claim(); unclaimed > 0; unclaimed = claim()) {
      failure_->run(*task_, num_tasks_ - unclaimed);
      if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) == 1) report_the_end();
    }
  }

  void report_the_end() {
    { const std::lock_guard lock(mutex_); }  // the caller cannot be between its test and its wait
    done_.notify_one();
  }

  bool is_done() const { return unfinished_.load(std::memory_order_acquire) == 0; }

  void wait_for_the_others() {
    const auto ends = [this] { return is_done(); };
    if (is_done() || (spins_ && spin_until(ends))) return;
    std::unique_lock lock(mutex_);
    done_.wait(lock, ends);
  }

  void call_until_done(const Meanwhile& meanwhile) {
    while (true) {
      {
        std::unique_lock lock(mutex_);
        if (done_.wait_for(lock, kBetweenCalls, [this] { return is_done(); })) return;
      }
      meanwhile();
    }
  }

  void wait_and_work() {
    while (!is_dismissed_.load(std::memory_order_relaxed)) {
      if (!spins_ || !spin_until([this] { return is_wanted(); })) sleep_until_called();
      work();
    }
  }

  bool is_wanted() const {
    return unclaimed_.load(std::memory_order_relaxed) > 0 ||
           is_dismissed_.load(std::memory_order_relaxed);
  }

  // Returns even if the other threads have already claimed all tasks of the call. A thread that
  // wakes late then spins and is in time for the next call; if it went back to sleep, it would be
  // late again.
  void sleep_until_called() {
    std::unique_lock lock(mutex_);
    if (is_wanted()) return;
    wake_.wait(lock, [this, calls = calls_] { return calls != calls_ || is_wanted(); });
  }

  void dismiss() {
    {
      const std::lock_guard lock(mutex_);
      is_dismissed_.store(true, std::memory_order_relaxed);
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  const bool spins_;  // with fewer cores than threads, spinning would block others
  std::atomic<bool> is_busy_ = false;
  std::atomic<bool> is_dismissed_ = false;

  Index num_tasks_ = 0;
  const Task* task_ = nullptr;
  FirstFailure* failure_ = nullptr;
  alignas(64) std::atomic<Index> unclaimed_ = 0;  // each on its own cache line
  alignas(64) std::atomic<Index> unfinished_ = 0;

  alignas(64) std::mutex mutex_;
  Index calls_ = 0;  // guarded by the mutex
  std::condition_variable wake_;
  std::condition_variable done_;
  std::vector<std::thread> threads_;
};

ThreadPool::ThreadPool(int num_threads) {
  if (num_threads < 1) {
    throw UsageError(fmt::format("{} threads; expected at least 1", num_threads));
  }
  if (num_threads > 1) crew_ = std::make_unique<Crew>(num_threads);
}

ThreadPool::~ThreadPool() = default;

int ThreadPool::num_threads() const { return crew_ == nullptr ? 1 : crew_->num_threads(); }

void ThreadPool::run(Index num_tasks, const Task& task) const {
  const bool is_shared = crew_ != nullptr && num_tasks > 1;
  if (!is_shared || !crew_->run(num_tasks, task, nullptr)) run_inline(num_tasks, task);
}

void ThreadPool::run(Index num_tasks, const Task& task, const Meanwhile& meanwhile) const {
  const bool is_shared = crew_ != nullptr && num_tasks > 1;
  if (!is_shared || !crew_->run(num_tasks, task, &meanwhile)) run_inline(num_tasks, task);
}

}  // namespace headwater
