// What a client cannot have without an engine: it waits for one, and then is an error.
#include <fmt/core.h>

#include <utility>

#include "runtime/engine/event_log.h"
#include "runtime/remote/client.h"
#include "runtime/remote/event_messages.h"

namespace allot::remote {

using engine::EventLog;
using engine::JsonText;
using engine::Orders;
using Seconds = Line::Seconds;

namespace {

void put_nothing(JsonText&) {}

}  // namespace

Result<Answer> Client::demand(Ask ask, const Put& put) const {
  return alone([&] { return obtain(ask, put); });
}

// A swap that is asked for twice makes two versions.
Error Client::unanswered(Ask ask, Error error) const {
  if (ask == Ask::Swap && line_.unanswered()) {
    error.help += "; the swap may be carried out all the same: look at active_version before you ask for it again";
  }
  return error;
}

Result<Answer> Client::obtain(Ask ask, const Put& put, Seconds wait) const {
  if (std::exchange(restart_untold_, false)) return restarted();
  const std::int64_t restarts = counts_.restarts;
  ++counts_.calls;
  auto answer = line_.ask(ask, put, wait, false);
  if (counts_.restarts != restarts) {
    restart_untold_ = false;
    return unanswered(ask, restarted());
  }
  if (!answer) {
    if (line_.refused()) return *line_.refused();
    return unanswered(ask, {fmt::format("The engine cannot be reached: {}.", line_.problem()),
                            "start it with `allot serve` or Engine.serve(), and look at its messages"});
  }
  if (answer->error) return *answer->error;
  return *std::move(answer);
}

Result<Orders> Client::begin_iteration(int iteration, const std::vector<std::string>& prompts) {
  return alone([&]() -> Result<Orders> {
    auto answer = obtain(Ask::Begin, [&](JsonText& text) { text.member("it", iteration).member("prompts", prompts); });
    if (!answer) return answer.error();
    leads_ = true;
    return take_mail();
  });
}

Result<engine::IterationReport> Client::end_iteration() {
  auto answer = demand(Ask::End, put_nothing);
  if (!answer) return answer.error();
  return answer->report.value_or(engine::IterationReport{});
}

Result<void> Client::set_pool(std::vector<engine::PoolPrompt> prompts) {
  auto answer = demand(Ask::Pool, [&](JsonText& text) { engine::put_pool(text, prompts); });
  if (!answer) return answer.error();
  return {};
}

Result<void> Client::restore(const std::string& state) {
  auto answer = demand(Ask::Restore, [&](JsonText& text) { text.member("state", state); });
  if (!answer) return answer.error();
  return {};
}

Result<engine::Shaped> Client::shape(const engine::MicroBatch& batch, Shape as) {
  // Here, since the server would end the connection over it.
  if (auto possible = check_size(batch); !possible) return possible.error();
  EventLog log;
  (log.*as)(batch);
  // The loss hangs on it: a step on advantages that nobody shaped could not be told from one that was meant.
  auto answer = demand(Ask::Events, [&](JsonText& text) { log.put(text); });
  if (!answer) return answer.error();
  if (!answer->shaped) {
    return Error{"The engine's answer has no advantages.", "install the same version of Allot in every process"};
  }
  return *std::move(answer->shaped);
}

Result<engine::Shaped> Client::shape_group(const engine::MicroBatch& group) {
  return shape(group, &EventLog::shape_group);
}

Result<engine::Shaped> Client::shape(const engine::MicroBatch& batch) {
  return shape(batch, &EventLog::shape);
}

// ---- what only looks

Answer Client::answered(Result<Answer> answer) {
  if (!answer) throw Unanswered(answer.error().text());
  return *std::move(answer);
}

std::vector<std::string> Client::unused_prompts() const {
  return answered(demand(Ask::Unused, put_nothing)).prompts;
}

engine::IterationReport Client::preview() const {
  return answered(demand(Ask::Preview, put_nothing)).report.value_or(engine::IterationReport{});
}

std::string Client::save_state() const {
  return answered(demand(Ask::Save, put_nothing)).state;
}

About Client::about() const {
  return answered(demand(Ask::About, put_nothing)).about.value_or(About{});
}

bool Client::wants_gram() const {
  return about().gram;
}
bool Client::wants_embeddings() const {
  return about().embeddings;
}
bool Client::shapes_groups() const {
  return about().shapes_groups;
}
bool Client::shapes_micro_batches() const {
  return about().shapes_micro_batches;
}
int Client::replay_age() const {
  return about().replay_age;
}
engine::ActiveVersion Client::active() const {
  return about().active;
}
int Client::active_version() const {
  return active().number;
}
int Client::saved_change() const {
  return about().saved_change;
}
double Client::seconds_spent() const {
  return about().seconds_spent;
}
std::string Client::policy_name() const {
  return about().policy_name;
}
std::string Client::policy_hash() const {
  return active().hash;
}

}  // namespace allot::remote
