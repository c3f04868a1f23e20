// `on loss of token` through a client: tokens are too many to travel, so the policy comes to them, and how it answered
// goes back.
#include <utility>

#include "runtime/engine/policy.h"
#include "runtime/engine/state.h"
#include "runtime/remote/client.h"

namespace allot::remote {

using engine::JsonText;
using engine::LossTally;
using engine::Policy;
using engine::StateStore;
using engine::TokenLoss;

namespace {

Error differs() {
  return {"The policy of the run says something else here than in the engine's process.",
          "install the same version of Allot in every process"};
}

bool has_policy(const TokenLoss& loss, const LossParts& parts) {
  return loss.policy()->program().hash == parts.hash && loss.policy()->given() == parts.parameters;
}

// With machine code before its first answer: a thread that compiled on would be missing in the child of a fork.
Result<std::shared_ptr<const Policy>> load(const engine::PolicyText& text, const LossParts& parts, bool native) {
  const auto policy = engine::load_policy(text, parts.parameters);
  if (!policy) return policy.error();
  if ((*policy)->program().hash != parts.hash) return differs();
  if (native) {
    engine::compile_natively(**policy);
    (*policy)->wait_for_native();  // where it fails the evaluator answers, the same
  }
  return std::shared_ptr<const Policy>(*policy);
}

// `last` may be null.
Result<std::shared_ptr<const Policy>> policy_of(const LossParts& parts, const TokenLoss* last, bool native) {
  if (last != nullptr && has_policy(*last, parts)) return last->policy();
  if (!parts.text.empty()) {
    const auto text = engine::unpack(parts.text);
    if (!text) return text.error();
    return load(*text, parts, native);
  }
  if (last == nullptr) return differs();
  return load(last->policy()->origin()->text, parts, native);  // with other parameters
}

Result<std::shared_ptr<const TokenLoss>> make(const LossParts& parts, std::shared_ptr<const Policy> policy,
                                              TokenLoss::Heard heard) {
  const auto& handlers = policy->program().handlers;
  const auto handler = static_cast<std::size_t>(parts.handler);
  StateStore store(policy->program());
  const bool fits = handler < handlers.size() && handlers[handler].point == lang::Point::Loss &&
                    store.restore(StateStore::Keyed(), StateStore::Keyed(), parts.states);
  if (!fits) return differs();
  return std::make_shared<const TokenLoss>(std::move(policy), parts.handler, store, parts.iteration, parts.epoch,
                                           std::move(heard));
}

}  // namespace

// Made without the lock: other threads report meanwhile.
std::shared_ptr<const TokenLoss> Client::token_loss() {
  std::shared_ptr<const TokenLoss> last;
  std::string last_number;
  const Answer answer = answered(alone([&] {
    last = loss_;
    last_number = loss_number_;
    const std::string known = last ? last->policy()->program().hash : "";
    return obtain(Ask::Loss, [&](JsonText& text) { text.member("policy", known); });
  }));
  if (!answer.loss) return nullptr;
  const LossParts& parts = *answer.loss;
  if (last && last_number == parts.number) return last;
  auto policy = policy_of(parts, last.get(), settings_.native);
  if (!policy) throw Unanswered(policy.error().text());
  const auto heard = [this, number = parts.number, iteration = parts.iteration](const LossTally& tally) {
    tell(number, iteration, tally);
  };
  auto loss = make(parts, *std::move(policy), heard);
  if (!loss) throw Unanswered(loss.error().text());
  const auto kept = alone([&]() -> Result<void> {
    loss_ = *loss;
    loss_number_ = parts.number;
    return {};
  });
  if (!kept) throw Unanswered(kept.error().text());
  return *std::move(loss);
}

void Client::tell(const std::string& loss, std::int64_t iteration, const LossTally& tally) {
  const auto told = alone([&]() -> Result<void> {
    if (!has_room()) {
      ++counts_.lost;
      return {};
    }
    const auto answer = decide(Ask::Tally, [&](JsonText& text) { put_request(text, loss, iteration, tally); });
    if (answer && answer->error) return *answer->error;
    return {};
  });
  if (!told) throw Unanswered(told.error().text());
}

}  // namespace allot::remote
