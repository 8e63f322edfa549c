#include "headwater/learning/search_tasks.hpp"

namespace headwater {

void SearchTasks::run(Index num_tasks, const std::function<void(Index task)>& task) {
  caller_ = std::this_thread::get_id();
  const auto unless_stopped = [&](Index i) {
    if (!is_stopped_) task(i);
  };
  try {
    pool_.run(num_tasks, unless_stopped, [this] { tell_listener(); });
  } catch (const Stopped&) {
  }
  if (is_stopped_) std::rethrow_exception(why_);
}

void SearchTasks::tell() {
  if (std::this_thread::get_id() == caller_) tell_listener();
  if (is_stopped_) throw Stopped();
}

void SearchTasks::tell_listener() noexcept {
  if (!on_search_ || is_stopped_) return;
  try {
    on_search_(done_, all_);
  } catch (...) {
    why_ = std::current_exception();
    is_stopped_ = true;
  }
}

}  // namespace headwater
