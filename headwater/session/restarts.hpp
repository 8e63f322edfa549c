#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "headwater/observation.hpp"
#include "headwater/parallel/thread_pool.hpp"
#include "headwater/session.hpp"
#include "headwater/session/component_choice.hpp"

namespace headwater {

// The log-likelihood of a fit by which it is compared with others: that of the fit from its last
// start, which has processed the observations that the start was found from too. Of short streams
// that says more than the predictions, most of which were made before that start.
double merit(const Session& session);

// Several fits of the same stream at once, with seeds or numbers of components of their own. The
// stream is read once; observations are handed on in blocks, so that the fits can run on threads.
class Restarts {
 public:
  // Seeds: seed, seed + 1, ... config.engine.num_threads is shared out among the fits.
  Restarts(const Config& config, Index num_restarts);
  // One fit for each number of components, or a plain one if there is one number.
  Restarts(const Config& config, const std::vector<Index>& candidates);
  explicit Restarts(Session only);

  // Called for each observation of the first fit. Use this, and not the function of the session.
  void on_step(std::function<void(const StepReport&)> callback);

  void set_names(const std::vector<std::string>& names);  // see Session
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
  // The one to keep: of the largest merit, or of the number of components that was chosen.
  Index best() const;
  // Its model, with what the other fits say of it.
  Model model() const;
  // How the numbers of components were compared; null if there was no choice.
  const ComponentChoice* choice() const { return choice_ ? &*choice_ : nullptr; }

 private:
  std::vector<std::unique_ptr<Session>> sessions_;
  ThreadPool pool_;
  std::vector<Observation> block_;
  std::size_t waiting_ = 0;
  std::optional<ComponentChoice> choice_;
};

}  // namespace headwater
