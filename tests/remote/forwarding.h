// An engine that is another one, but for what a test makes different.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/engine/engine.h"

namespace allot::remote::test {

class Forwarding : public engine::Engine {
 public:
  explicit Forwarding(engine::Engine& to) : to_(&to) {}

  Result<engine::Orders> begin_iteration(int iteration, const std::vector<std::string>& prompts) override {
    return to_->begin_iteration(iteration, prompts);
  }
  Result<engine::Orders> turn(engine::RolloutRef rollout, const engine::Turn& turn) override {
    return to_->turn(rollout, turn);
  }
  Result<engine::Orders> ended(engine::RolloutRef rollout, const engine::Ending& ending) override {
    return to_->ended(rollout, ending);
  }
  Result<engine::IterationReport> end_iteration() override { return to_->end_iteration(); }
  Result<void> set_pool(std::vector<engine::PoolPrompt> prompts) override { return to_->set_pool(std::move(prompts)); }
  std::vector<std::string> unused_prompts() const override { return to_->unused_prompts(); }
  engine::IterationReport preview() const override { return to_->preview(); }
  Result<engine::Shaped> shape_group(const engine::MicroBatch& group) override { return to_->shape_group(group); }
  Result<engine::Shaped> shape(const engine::MicroBatch& batch) override { return to_->shape(batch); }
  std::shared_ptr<const engine::TokenLoss> token_loss() override { return to_->token_loss(); }
  bool wants_gram() const override { return to_->wants_gram(); }
  bool wants_embeddings() const override { return to_->wants_embeddings(); }
  bool shapes_groups() const override { return to_->shapes_groups(); }
  bool shapes_micro_batches() const override { return to_->shapes_micro_batches(); }
  int replay_age() const override { return to_->replay_age(); }
  std::string save_state() const override { return to_->save_state(); }
  Result<void> restore(const std::string& state) override { return to_->restore(state); }
  engine::SwapReport swap(const engine::SwapRequest& request) override { return to_->swap(request); }
  int announce_swap() override { return to_->announce_swap(); }
  engine::SwapReport swap_outcome(int ticket) const override { return to_->swap_outcome(ticket); }
  int active_version() const override { return to_->active_version(); }
  engine::ActiveVersion active() const override { return to_->active(); }
  int saved_change() const override { return to_->saved_change(); }
  bool carried_out(const std::string& request) const override { return to_->carried_out(request); }
  double seconds_spent() const override { return to_->seconds_spent(); }
  std::string policy_name() const override { return to_->policy_name(); }
  std::string policy_hash() const override { return to_->policy_hash(); }

 protected:
  Forwarding() = default;
  void forward_to(engine::Engine& to) { to_ = &to; }  // before anything is asked

 private:
  engine::Engine* to_ = nullptr;
};

}  // namespace allot::remote::test
