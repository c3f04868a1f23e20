// What a swap needs and what takes time, without the engine's lock: decisions go on meanwhile.
#include <algorithm>
#include <optional>
#include <shared_mutex>

#include <fmt/format.h>

#include "runtime/engine/live_engine.h"
#include "runtime/engine/policy_record.h"
#include "runtime/engine/snapshot.h"
#include "runtime/engine/swap_state.h"
#include "runtime/engine/versions_folder.h"

namespace allot::engine {

// The policy that comes, with the parameters that were given for the run and those that come with the request.
Result<std::shared_ptr<Policy>> LiveEngine::policy_for(const SwapRequest& request, const ActivePolicy& active) const {
  if (request.policy) return request.policy;
  PolicyText text = request.text;
  std::map<std::string, std::string> parameters = active.policy->given();
  if (request.back) {
    if (!active.before) {
      return Error{active.number == 0 ? "There is no version before the active one: this run was never swapped."
                                      : "There is no version before the active one: every swap that is remembered was taken back.",
                   "`allot log RUN --kind swap` tells of swaps; any of their files can be swapped in"};
    }
    if (!active.before->origin) {
      return Error{fmt::format("The text of the version before, {}, was not kept.", active.before->hash.substr(0, 12)),
                   "swap to its file instead"};
    }
    text = active.before->origin->text;
    parameters = active.before->origin->parameters;
  }
  for (const auto& [name, value] : request.parameters) parameters[name] = value;
  auto policy = load_policy(text, parameters);
  if (policy) return policy;
  auto plain = load_policy(text, {});
  if (!plain) return plain.error();  // the policy itself is wrong
  return Error{"The parameters of the run do not fit the new policy: " + policy.error().what,
               policy.error().help.empty() ? "keep the parameter, or give it with --set" : policy.error().help};
}

// Everything that create() would refuse, before anything is changed.
Result<void> LiveEngine::fits_run(const Policy& policy, const std::vector<std::string>& prompts) const {
  const lang::Program& program = policy.program();
  if (auto fits = check_points(program, policy.parameters(), settings_.turn_limit, settings_.host); !fits) return fits;
  const InputValues supplied = declared_inputs(program, settings_.inputs);
  if (auto fits = check_inputs(program, supplied); !fits) return fits;
  return check_inputs(program, supplied, prompts);
}

namespace {

// In the form of `next`, as far as that can be said beforehand.
std::shared_ptr<CarriedMemory> carried_ahead(const StateStore::Moment& memory, const lang::Program& now,
                                             const lang::Program& next) {
  if (!same_states(memory.layout->states(), now.states)) return nullptr;  // somebody swapped it meanwhile
  const StatePlan plan(now, next);
  auto carried = plan.missing().empty() ? plan.carry_ahead(memory) : std::nullopt;
  return carried ? std::make_shared<CarriedMemory>(*std::move(carried)) : nullptr;
}

}  // namespace

Result<PreparedSwap> LiveEngine::prepare(const SwapRequest& request, const ActivePolicy& active) const {
  if (!active.policy) return Error{"This run has no policy, so there is none to swap.", "start a run with --policy FILE"};
  if (!(request.canary >= 0 && request.canary < 1)) {
    return Error{fmt::format("A canary of {} is no share.", request.canary), "give a share between 0 and 1, such as 10%"};
  }
  if (request.back && active.has_canary) return PreparedSwap{};  // what came last is the canary
  auto policy = policy_for(request, active);
  if (!policy) return policy.error();
  if (auto fits = fits_run(**policy, *active.prompts); !fits) return fits.error();
  const auto pool = [this] {
    const std::shared_lock lock(mutex_);
    return pool_.keys();
  }();
  const lang::Program& asked = (*policy)->program();
  if (auto fits = check_inputs(asked, declared_inputs(asked, settings_.inputs), pool); !fits) return fits.error();
  if (settings_.native && !request.policy) {
    compile_natively(**policy);
    (*policy)->wait_for_native();  // where it fails the evaluator decides, and native_note() says why
  }
  if (auto kept = keep_text(settings_.run_folder, policy->get()); !kept) return kept.error();
  PreparedSwap prepared;
  if (audit_.on()) prepared.record = policy_record_text(**policy);
  prepared.version = std::make_shared<Version>(0, *std::move(policy));
  if (request.back) prepared.back_to = active.before->number;
  const lang::Program &now = active.policy->program(), &next = prepared.version->program();
  if (request.back != StateOf::Then) {
    if (request.canary > 0 || same_states(now.states, next.states)) return prepared;
    // Only who has the engine alone writes to memory.
    const auto memory = [this] {
      const std::shared_lock lock(mutex_);
      return store_.moment();
    }();
    prepared.ahead = carried_ahead(memory, now, next);
    return prepared;
  }
  auto then = memory_of(*active.before, prepared.version->program());
  if (!then) return Error{then.error().what, "roll back with the state of now"};
  prepared.then = std::make_shared<StateStore>(*std::move(then));
  return prepared;
}

// What was remembered when a version was replaced.
Result<StateStore> LiveEngine::memory_of(const Replaced& replaced, const lang::Program& program) const {
  const Error another{"The state of then belongs to another policy.", ""};
  StateStore store(program);
  if (replaced.state && replaced.state->snapshot) {
    const Snapshot& then = *replaced.state->snapshot;
    if (then.policy_hash() != program.hash) return another;
    if (!store.restore(StateRows(then.memory.prompts), StateRows(then.memory.categories), then.memory.run)) return another;
    return store;
  }
  std::shared_ptr<const std::string> text;
  if (elsewhere_) text = elsewhere_->state(replaced.number, replaced.at);
  if (!text && settings_.run_folder.empty()) return Error{"The state of then was not kept.", ""};
  if (!text) {
    auto kept = kept_state(settings_.run_folder, replaced.number, replaced.at);
    if (!kept) return kept.error();
    text = std::make_shared<const std::string>(*std::move(kept));
  }
  auto read = read_snapshot(*text, {});
  if (!read) return read.error();
  if (read->policy_hash != program.hash || !read->give_memory(store)) return another;
  return store;
}

// Into the run folder. By who asked for the swap, or else behind the barrier.
Result<void> LiveEngine::write_down(StateThen& state) const {
  if (elsewhere_) elsewhere_->keep_state(state);
  if (settings_.run_folder.empty() || state.on_disk) return {};
  auto kept = keep_state(settings_.run_folder, state.version, state.at, engine::write(*state.snapshot));
  if (kept) state.on_disk = true;
  return kept;
}

}  // namespace allot::engine
