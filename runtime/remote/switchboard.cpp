#include "runtime/remote/switchboard.h"

#include <algorithm>

#include <fmt/format.h>

namespace allot::remote {

using engine::LoggedEvent;
using engine::Orders;
using engine::RolloutRef;

template <typename T, typename Use>
void Switchboard::take(Result<T> result, Answer& answer, Use use) {
  if (!result) {
    answer.error = result.error();
  } else {
    use(*std::move(result));
  }
}

// Every order goes through the mail, so that those of one client keep their order.
Answer Switchboard::carry_out(int client, const Request& request) {
  Answer answer;
  answer.number = request.number;
  const auto done = [&](const Result<void>& result) {
    if (!result) answer.error = result.error();
  };
  switch (request.ask) {
    case Ask::Events:
      tell(client, request.events, answer);
      break;
    case Ask::Drive:
      for (const RolloutRef rollout : request.rollouts) drive(client, rollout);
      break;
    case Ask::Begin:
      done(begin(client, request));
      break;
    case Ask::End:
      take(engine_.end_iteration(), answer, [&](engine::IterationReport report) { answer.report = std::move(report); });
      break;
    case Ask::Preview:
      answer.report = engine_.preview();
      break;
    case Ask::Unused:
      answer.prompts = engine_.unused_prompts();
      break;
    case Ask::Pool:
      done(engine_.set_pool(request.pool));
      break;
    case Ask::Save:
      answer.state = engine_.save_state();
      break;
    case Ask::Restore:
      done(restore(request.state));
      break;
    case Ask::About:
      answer.about = about();
      break;
    case Ask::Swap:
      take(swaps_.begin(request.swap), answer, [&](int ticket) { answer.ticket = ticket; });
      break;
    case Ask::Outcome:
      answer.swap = engine_.swap_outcome(request.ticket);
      break;
    case Ask::Loss:
      take(loss_parts(request.known_policy), answer,
           [&](std::optional<LossParts> parts) { answer.loss = std::move(parts); });
      break;
    case Ask::Tally:
      done(add_tally(request));
      break;
    case Ask::Seen:
    case Ask::Bye:
      break;
  }
  if (const auto own = mail_.find(client); own != mail_.end()) {
    answer.orders = std::move(own->second);
    mail_.erase(own);
  }
  return answer;
}

void Switchboard::tell(int client, const engine::LoggedIteration& events, Answer& answer) {
  for (const LoggedEvent& event : events.events) {
    if (answer.error) return;
    const auto to_shape = [&](engine::Shaped shaped) { answer.shaped = std::move(shaped); };
    const auto to_route = [&](Orders orders) { route(client, std::move(orders)); };
    switch (event.kind) {
      case LoggedEvent::Kind::Turn:
        drive(client, event.rollout);
        take(engine_.turn(event.rollout, event.turn), answer, to_route);
        break;
      case LoggedEvent::Kind::Ended:
        running_.erase({event.rollout.group, event.rollout.sample});
        take(engine_.ended(event.rollout, event.ending), answer, to_route);
        break;
      case LoggedEvent::Kind::ShapeGroup:
        take(engine_.shape_group(event.batch), answer, to_shape);
        break;
      case LoggedEvent::Kind::Shape:
        take(engine_.shape(event.batch), answer, to_shape);
        break;
      case LoggedEvent::Kind::Swap:
        break;  // the engine's own: no client tells of one
    }
  }
}

About Switchboard::about() const {
  return {engine_.policy_name(),   engine_.active(),               engine_.wants_gram(), engine_.wants_embeddings(),
          engine_.shapes_groups(), engine_.shapes_micro_batches(), engine_.replay_age(), engine_.saved_change(),
          engine_.seconds_spent()};
}

// An iteration that is begun anew, after the engine went back, has the number of the first but another loss.
const std::shared_ptr<const engine::TokenLoss>& Switchboard::current_loss() {
  if (auto loss = engine_.token_loss(); loss != loss_) {
    loss_ = std::move(loss);
    ++losses_;
  }
  return loss_;
}

std::string Switchboard::loss_number() const {
  return fmt::format("{}-{}", id_, losses_);
}

// The text goes along only where the client has another one: an iteration asks for its loss anew, and mostly its state
// alone has changed.
Result<std::optional<LossParts>> Switchboard::loss_parts(const std::string& known_policy) {
  const auto& loss = current_loss();
  if (!loss) return std::optional<LossParts>();
  const engine::Policy& policy = *loss->policy();
  if (!policy.origin()) {
    return Error{"The policy was put together in memory: there is no text from which its loss could be made elsewhere.",
                 "ask token_loss() in the process that holds the engine"};
  }
  LossParts parts;
  parts.number = loss_number();
  parts.hash = policy.program().hash;
  parts.parameters = policy.given();
  if (parts.hash != known_policy) parts.text = engine::pack(policy.origin()->text);
  parts.handler = loss->handler();
  parts.iteration = loss->iteration();
  parts.epoch = loss->epoch();
  parts.states = loss->states();
  return std::optional(std::move(parts));
}

// Into the tally of the engine's own loss, which the barrier reads.
Result<void> Switchboard::add_tally(const Request& request) {
  const auto& loss = current_loss();
  if (loss && request.loss == loss_number() && loss->add(request.tally)) return {};
  return Error{fmt::format("The loss of {} tokens was asked after iteration {} had ended or begun anew, or of an "
                           "engine that was restarted: no journal tells of them.",
                           request.tally.asked, request.iteration),
               "ask token_loss() in every iteration, and end it when every process has taken its step"};
}

bool Switchboard::is_over(RolloutRef rollout) const {
  return rollout.group >= first_group_ && !running_.contains({rollout.group, rollout.sample});
}

// Whoever takes a rollout over learns what was ordered before.
void Switchboard::drive(int client, RolloutRef rollout) {
  if (is_over(rollout)) return box(client).stop.push_back(rollout);
  const auto found = running_.find({rollout.group, rollout.sample});
  if (found == running_.end() || found->second.by == client) return;
  found->second.by = client;
  if (found->second.held) box(client).hold.push_back(rollout);
}

Result<void> Switchboard::begin(int client, const Request& request) {
  auto orders = engine_.begin_iteration(request.iteration, request.events.prompts);
  if (!orders) return orders.error();
  leader_ = client;
  route(client, *std::move(orders));
  return {};
}

// The engine goes back to a barrier: nothing that runs is its own any more.
Result<void> Switchboard::restore(const std::string& state) {
  auto restored = engine_.restore(state);
  if (!restored) return restored;
  for (const auto& [rollout, driven] : running_) {
    if (driven.by != nobody) box(driven.by).stop.push_back({rollout.first, rollout.second});
  }
  running_.clear();
  first_group_ = std::numeric_limits<int>::max();
  return {};
}

void Switchboard::route(int client, Orders orders) {
  const int leader = leader_ == nobody ? client : leader_;
  for (const engine::Start& start : orders.start) {
    first_group_ = std::min(first_group_, start.group);
    for (int i = 0; i < start.count; ++i) running_[{start.group, start.first + i}] = {};
  }
  const auto driver = [&](RolloutRef rollout) {
    const auto found = running_.find({rollout.group, rollout.sample});
    return found == running_.end() ? client : found->second.by == nobody ? leader : found->second.by;
  };
  const auto note_held = [&](RolloutRef rollout, bool held) {
    if (const auto found = running_.find({rollout.group, rollout.sample}); found != running_.end())
      found->second.held = held;
  };
  for (const RolloutRef rollout : orders.stop) {
    box(driver(rollout)).stop.push_back(rollout);
    running_.erase({rollout.group, rollout.sample});
  }
  for (const RolloutRef rollout : orders.hold) {
    box(driver(rollout)).hold.push_back(rollout);
    note_held(rollout, true);
  }
  for (const RolloutRef rollout : orders.release) {
    box(driver(rollout)).release.push_back(rollout);
    note_held(rollout, false);
  }
  orders.stop.clear();
  orders.hold.clear();
  orders.release.clear();
  const bool tells = !orders.start.empty() || !orders.closed.empty() || !orders.deferred.empty() || orders.batch_closed;
  if (tells) box(leader).append(std::move(orders));
}

int Switchboard::end_rollouts(int client) {
  std::vector<RolloutRef> own;
  for (const auto& [rollout, driven] : running_) {
    if ((driven.by == nobody ? leader_ : driven.by) == client) own.push_back({rollout.first, rollout.second});
  }
  int ended = 0;
  for (const RolloutRef rollout : own) {
    if (running_.erase({rollout.group, rollout.sample}) == 0) continue;  // stopped, since a sibling ended
    box(client).stop.push_back(rollout);
    engine::Ending ending;
    ending.status = engine::Status::Aborted;
    ending.cause = "the process that drove it is gone";
    if (auto orders = engine_.ended(rollout, ending)) route(client, *std::move(orders));
    ++ended;
  }
  return ended;
}

}  // namespace allot::remote
