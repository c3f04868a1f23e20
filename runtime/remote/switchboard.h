// Carries the requests of several clients out on one engine, and tells each client what concerns it.
//
// Orders to stop, hold or release a rollout are for the client that drives it: whoever reported its last event or said
// that it does. What concerns the batch (rollouts to start, groups that closed or wait, the batch's close) is for the
// leader, who began the iteration; so is whatever nobody drives yet.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/remote/messages.h"
#include "runtime/remote/socket.h"
#include "runtime/remote/swap_workers.h"

namespace allot::remote {

class Switchboard {
 public:
  // `engine` must outlive it. Rollouts that were started before are known to their drivers alone.
  explicit Switchboard(engine::Engine& engine) : engine_(engine), swaps_(engine) {}

  // The answer to `client` (any number from 0), but for its serial number. Never asked with Seen or Bye.
  Answer carry_out(int client, const Request& request);
  // A client that will not report again: what it drives ends as aborted, so that nobody waits for it and its permits
  // come back. Returns how many.
  int end_rollouts(int client);
  // Orders for clients, by client, since the last call.
  std::map<int, engine::Orders> take_mail() { return std::exchange(mail_, {}); }
  // Waits for swaps that are under way. From here on nothing is asked of the engine.
  void finish() { swaps_.finish(); }

 private:
  static constexpr int nobody = -1;
  using Key = std::pair<int, int>;  // group, sample
  struct Driven {
    int by = nobody;
    bool held = false;
  };

  void tell(int client, const engine::LoggedIteration& events, Answer& answer);
  void drive(int client, engine::RolloutRef rollout);
  bool is_over(engine::RolloutRef rollout) const;
  Result<void> begin(int client, const Request& request);
  Result<void> restore(const std::string& state);
  About about() const;
  // What the engine has now, numbered: loss_ and loss_number().
  const std::shared_ptr<const engine::TokenLoss>& current_loss();
  std::string loss_number() const;
  Result<std::optional<LossParts>> loss_parts(const std::string& known_policy);
  Result<void> add_tally(const Request& request);
  template <typename T, typename Use>
  void take(Result<T> result, Answer& answer, Use use);
  void route(int client, engine::Orders orders);
  engine::Orders& box(int client) { return mail_[client]; }

  engine::Engine& engine_;
  SwapWorkers swaps_;
  int leader_ = nobody;
  int first_group_ = std::numeric_limits<int>::max();  // that was started here
  std::map<Key, Driven> running_;
  std::map<int, engine::Orders> mail_;
  const std::string id_ = fresh_id();
  std::shared_ptr<const engine::TokenLoss> loss_;  // kept, so that no other one has its address
  std::uint64_t losses_ = 0;
};

}  // namespace allot::remote
