#pragma once

#include <memory>
#include <vector>

#include "headwater/observation.hpp"
#include "headwater/parallel/thread_pool.hpp"
#include "headwater/session.hpp"

namespace headwater {

// Several fits of the same stream at once, with seeds of their own: seed, seed + 1, ... The stream
// is read once; observations are handed on in blocks, so that the fits can run on threads.
class Restarts {
 public:
  // config.engine.num_threads is shared out among the fits.
  Restarts(const Config& config, Index num_restarts);

  void update(const Observation& y);
  // Gives the fits what waits for a block to be full.
  void hand_on();
  void finish();
  void exchange(StateArchive& archive);  // see Session

  // Whether the next update() hands observations on, and may take long.
  bool is_due() const;

  Index size() const { return static_cast<Index>(sessions_.size()); }
  Session& session(Index i) { return *sessions_[i]; }
  const Session& session(Index i) const { return *sessions_[i]; }
  // The one that has predicted best: of the largest log-likelihood.
  Index best() const;

 private:
  std::vector<std::unique_ptr<Session>> sessions_;
  ThreadPool pool_;
  std::vector<Observation> block_;
  std::size_t waiting_ = 0;
};

}  // namespace headwater
