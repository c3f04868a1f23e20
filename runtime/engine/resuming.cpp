// What an engine carries over the end of a process.
#include <fmt/format.h>

#include "runtime/engine/live_engine.h"
#include "runtime/engine/snapshot.h"

namespace allot::engine {

std::string LiveEngine::save_state() const {
  const std::lock_guard lock(mutex_);
  return snapshot_;
}

std::string LiveEngine::make_snapshot() const {
  Snapshot snapshot;
  snapshot.policy_hash = policy_hash();
  snapshot.iteration = iteration_;
  snapshot.next_group = next_group_;
  snapshot.prompts = store_.prompts();
  snapshot.categories = store_.categories();
  snapshot.run_state = store_.run();
  snapshot.histories = pool_.histories();
  snapshot.epoch = pool_.epoch();
  snapshot.passed = pool_.passed();
  for (const auto& [number, group] : groups_) {
    if (group->deferred) snapshot.waiting.push_back(group.get());
  }
  for (const auto& [number, group] : stored_) snapshot.stored.push_back(group.get());
  snapshot.accounts = ledger_.accounts();
  snapshot.conservation = ledger_.conservation();
  snapshot.ledger_begun = ledger_.begun();
  snapshot.holdout_observed = trust_.observed();
  snapshot.holdout_flat = trust_.flat();
  snapshot.paused = trust_.paused();
  snapshot.run = run_;
  return write(snapshot);
}

Result<void> LiveEngine::restore(const std::string& state) {
  const std::lock_guard lock(mutex_);
  auto read = read_snapshot(state, plan_);
  if (!read) return read.error();
  const std::string hash = policy_ ? policy_->program().hash : "";
  if (read->policy_hash != hash) {
    const auto named = [](const std::string& text) { return text.empty() ? "no policy" : text.substr(0, 12); };
    return Error{fmt::format("The saved state belongs to another policy: it was written under {}, this run has {}.",
                             named(read->policy_hash), named(hash)),
                 "resume with the same policy file, or start a new run"};
  }
  iteration_ = read->iteration;
  next_group_ = read->next_group;
  groups_.clear();
  stored_.clear();
  in_iteration_ = false;
  const std::size_t waiting = read->waiting.size();
  for (std::size_t i = 0; i < read->groups.size(); ++i) {
    const int number = read->groups[i]->log.group;
    read->groups[i]->deferred = i < waiting;
    read->groups[i]->closed = i >= waiting;
    read->groups[i]->active = read->groups[i]->placed = false;
    (i < waiting ? groups_ : stored_).emplace(number, std::move(read->groups[i]));
  }
  store_.restore(std::move(read->prompts), std::move(read->categories), std::move(read->run_state));
  pool_.restore(std::move(read->histories), read->epoch, read->passed);
  if (policy_) supply(policy_->program(), settings_.inputs, store_);  // the host's word of today
  ledger_.restore(read->accounts, read->conservation, read->ledger_begun);
  trust_.restore(read->holdout_observed, read->holdout_flat, read->paused);
  run_ = read->run;
  snapshot_ = state;
  audit_.resumed(iteration_ + 1);
  return {};
}

}  // namespace allot::engine
