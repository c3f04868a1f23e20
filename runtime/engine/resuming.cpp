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
  snapshot.run_state = store_.run();
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
  auto read = read_snapshot(state);
  if (!read) return read.error();
  const std::string hash = policy_ ? policy_->program().hash : "";
  if (read->policy_hash != hash) {
    const auto named = [](const std::string& text) { return text.empty() ? "no policy" : text.substr(0, 12); };
    return Error{fmt::format("The saved state belongs to another policy: it was written under {}, this run has {}.",
                             named(read->policy_hash), named(hash)),
                 "resume with the same policy file, or start a new run"};
  }
  iteration_ = read->iteration;
  first_group_ = next_group_ = read->next_group;
  groups_.clear();
  in_iteration_ = false;
  store_.restore(std::move(read->prompts), std::move(read->run_state));
  ledger_.restore(read->accounts, read->conservation, read->ledger_begun);
  trust_.restore(read->holdout_observed, read->holdout_flat, read->paused);
  run_ = read->run;
  snapshot_ = state;
  audit_.resumed(iteration_ + 1);
  return {};
}

}  // namespace allot::engine
