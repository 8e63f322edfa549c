#pragma once

#include <barrier>
#include <cstddef>
#include <exception>
#include <map>
#include <semaphore>
#include <span>
#include <thread>
#include <vector>

#include "headwater/parallel/ranks.hpp"

namespace headwater {

// Ranks that are threads of one process, for tests. Messages are passed through shared memory.
class ThreadRanks {
 public:
  explicit ThreadRanks(int size) : size_(size), barrier_(size), messages_(size * size) {}

  // Calls work(ranks) on as many threads, each as another rank.
  template <class Work>
  void run(const Work& work) {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < size_; ++rank) {
      threads.emplace_back([this, rank, &work] {
        One ranks(*this, rank);
        work(ranks);
      });
    }
  }

 private:
  struct Message {
    std::vector<double> values;
    std::binary_semaphore is_free{1};
    std::binary_semaphore is_there{0};
  };

  class One final : public Ranks {
   public:
    One(ThreadRanks& all, int rank) : all_(all), rank_(rank) {}
    int rank() const override { return rank_; }
    int size() const override { return all_.size_; }
    void send(std::span<const double> values, int to) override {
      Message& message = all_.messages_[static_cast<std::size_t>(rank_ * size() + to)];
      message.is_free.acquire();
      message.values.assign(values.begin(), values.end());
      message.is_there.release();
    }
    void receive(std::span<double> values, int from) override {
      Message& message = all_.messages_[static_cast<std::size_t>(from * size() + rank_)];
      message.is_there.acquire();
      std::copy(message.values.begin(), message.values.end(), values.begin());
      message.is_free.release();
    }
    void broadcast(std::span<double> values, int from) override {
      all_.barrier_.arrive_and_wait();
      if (rank_ == from) all_.shared_.assign(values.begin(), values.end());
      all_.barrier_.arrive_and_wait();
      std::copy(all_.shared_.begin(), all_.shared_.end(), values.begin());
    }
    void gather(std::span<double> values, std::span<const Index> counts) override {
      std::size_t first = 0;
      for (int rank = 0; rank < size(); ++rank) {
        const auto count = static_cast<std::size_t>(counts[static_cast<std::size_t>(rank)]);
        broadcast(values.subspan(first, count), rank);
        first += count;
      }
    }

   private:
    ThreadRanks& all_;
    int rank_;
  };

  int size_;
  std::barrier<> barrier_;
  std::vector<Message> messages_;
  std::vector<double> shared_;
};

}  // namespace headwater
