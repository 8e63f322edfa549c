#include "headwater/session/restarts.hpp"

#include <algorithm>
#include <utility>

#include "headwater/error.hpp"
#include "headwater/learning/online_em.hpp"
#include "headwater/session/quality.hpp"

namespace headwater {

namespace {

constexpr std::size_t kBlock = 256;

const Config& checked(const Config& config, Index num_restarts) {
  Config all = config;
  all.restarts = num_restarts;
  all.validate();
  return config;
}

}  // namespace

double merit(const Session& session) {
  const OnlineEm* const learner = session.learner();
  return learner != nullptr ? learner->log_likelihood() : session.log_likelihood();
}

Restarts::Restarts(const Config& config, Index num_restarts)
    : pool_(checked(config, num_restarts).engine.num_threads), block_(kBlock) {
  for (Index i = 0; i < num_restarts; ++i) {
    Config own = config;
    own.seed += static_cast<std::uint64_t>(i);
    if (num_restarts > 1) own.engine.num_threads = 1;
    sessions_.push_back(std::make_unique<Session>(own));
  }
}

Restarts::Restarts(const Config& config, const std::vector<Index>& candidates)
    : pool_(config.engine.num_threads), block_(kBlock) {
  for (const Index components : candidates) {
    Config own = config;
    own.num_components = components;
    if (candidates.size() > 1) own.engine.num_threads = 1;
    sessions_.push_back(std::make_unique<Session>(own));
  }
  if (candidates.size() > 1) choice_.emplace(candidates);
  on_step({});
}

void Restarts::on_step(std::function<void(const StepReport&)> callback) {
  if (!choice_) {
    sessions_[0]->on_step(std::move(callback));
    return;
  }
  for (Index i = 0; i < size(); ++i) {
    sessions_[i]->on_step([this, i, tell = i == 0 ? callback : nullptr](const StepReport& report) {
      choice_->add(i, report);
      if (tell) tell(report);
    });
  }
}

void Restarts::set_names(const std::vector<std::string>& names) {
  for (const auto& session : sessions_) session->set_names(names);
}

Restarts::Restarts(Session only) : pool_(only.config().engine.num_threads), block_(kBlock) {
  sessions_.push_back(std::make_unique<Session>(std::move(only)));
}

void Restarts::update(const Observation& y) {
  // A single fit is to see each observation when it comes.
  if (size() == 1) {
    sessions_[0]->update(y);
    return;
  }
  block_[waiting_++] = y;
  if (waiting_ == kBlock) hand_on();
}

// What was handed on is gone even if a fit refuses it: no observation is given twice.
void Restarts::hand_on() {
  const std::size_t count = std::exchange(waiting_, 0);
  pool_.run(size(), [&](Index i) {
    for (std::size_t t = 0; t < count; ++t) sessions_[i]->update(block_[t]);
  });
  if (choice_) choice_->compare();
}

bool Restarts::is_due() const { return size() == 1 || waiting_ + 1 == kBlock; }

// Observations that wait are saved as they are: to hand them on may take long.
void Restarts::exchange(StateArchive& archive) {
  auto waiting = static_cast<Index>(waiting_);
  exchange_first(archive, block_, waiting);
  if (static_cast<std::size_t>(waiting) >= kBlock) {
    throw InputError("the saved state has more observations waiting than a block has");
  }
  waiting_ = static_cast<std::size_t>(waiting);
  for (const auto& session : sessions_) archive(*session);
  if (choice_) archive(*choice_);
}

void Restarts::finish() {
  hand_on();
  pool_.run(size(), [&](Index i) { sessions_[i]->finish(); });
  if (choice_) choice_->compare();
}

Index Restarts::best() const {
  if (choice_) return choice_->chosen();
  const auto worse = [](const auto& a, const auto& b) { return merit(*a) < merit(*b); };
  return std::ranges::max_element(sessions_, worse) - sessions_.begin();
}

Model Restarts::model() const {
  const Index kept = best();
  Model model = session(kept).model();
  if (choice_) {
    model.choice_of_components = choice_->table();
    return model;
  }
  std::vector<Model> others;
  for (Index i = 0; i < size(); ++i) {
    if (i != kept) others.push_back(session(i).model());
  }
  model.stability = stability_of(model, others);
  return model;
}

}  // namespace headwater
