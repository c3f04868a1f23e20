// How many clients report makes no difference: runs over every part of the engine, played in lock-step by the engine's
// own process and by 1, 2, 4 and 8 others, leave the same journal and state to the last byte.
#include <unistd.h>

#include <memory>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "runtime/math/random.h"
#include "runtime/remote/client.h"
#include "runtime/remote/server.h"
#include "tests/engine/played_runs.h"
#include "tests/remote/worker_process.h"

using namespace allot;
using namespace allot::remote;
using engine::bench::Folder;
using engine::bench::PlayedRun;
using test::Worker;

namespace {

// An engine whose events are reported by several processes, the siblings of a group by different ones.
class Spread final : public engine::Engine {
 public:
  Spread(engine::Engine& engine, const std::filesystem::path& path, int workers) {
    auto server = Server::open(engine, path);
    if (!server) FAIL(server.error().text());
    server_ = *std::move(server);
    auto leader = Client::connect(path);
    if (!leader) FAIL(leader.error().text());
    leader_ = *std::move(leader);
    for (int i = 0; i < workers; ++i) workers_.push_back(test::client(path));
  }

  Result<engine::Orders> begin_iteration(int iteration, const std::vector<std::string>& prompts) override {
    return leader_->begin_iteration(iteration, prompts);
  }
  Result<engine::Orders> turn(engine::RolloutRef rollout, const engine::Turn& turn) override {
    return collect(worker_of(rollout).ask(test::turn_line(rollout, turn)).orders);
  }
  Result<engine::Orders> ended(engine::RolloutRef rollout, const engine::Ending& ending) override {
    return collect(worker_of(rollout).ask(test::ended_line(rollout, ending)).orders);
  }
  Result<engine::IterationReport> end_iteration() override { return leader_->end_iteration(); }
  Result<void> set_pool(std::vector<engine::PoolPrompt> prompts) override {
    return leader_->set_pool(std::move(prompts));
  }
  std::vector<std::string> unused_prompts() const override { return leader_->unused_prompts(); }
  engine::IterationReport preview() const override { return leader_->preview(); }
  Result<engine::Shaped> shape_group(const engine::MicroBatch& group) override { return leader_->shape_group(group); }
  Result<engine::Shaped> shape(const engine::MicroBatch& batch) override { return leader_->shape(batch); }
  std::shared_ptr<const engine::TokenLoss> token_loss() override { return nullptr; }
  bool wants_gram() const override { return leader_->wants_gram(); }
  bool wants_embeddings() const override { return leader_->wants_embeddings(); }
  bool shapes_groups() const override { return leader_->shapes_groups(); }
  bool shapes_micro_batches() const override { return leader_->shapes_micro_batches(); }
  int replay_age() const override { return leader_->replay_age(); }
  std::string save_state() const override { return leader_->save_state(); }
  Result<void> restore(const std::string& state) override { return leader_->restore(state); }
  engine::SwapReport swap(const engine::SwapRequest& request) override { return leader_->swap(request); }
  int announce_swap() override { return 0; }
  engine::SwapReport swap_outcome(int ticket) const override { return leader_->swap_outcome(ticket); }
  int active_version() const override { return leader_->active_version(); }
  int saved_change() const override { return leader_->saved_change(); }
  bool carried_out(const std::string& request) const override { return leader_->carried_out(request); }
  double seconds_spent() const override { return leader_->seconds_spent(); }
  std::string policy_name() const override { return leader_->policy_name(); }
  std::string policy_hash() const override { return leader_->policy_hash(); }

 private:
  Worker& worker_of(engine::RolloutRef rollout) {
    const auto count = static_cast<std::uint64_t>(workers_.size());
    return workers_[math::below(count, 7, static_cast<std::uint64_t>(rollout.group),
                                static_cast<std::uint64_t>(rollout.sample))];
  }

  // The server tells the others before it answers, so what they were to get is there.
  engine::Orders collect(engine::Orders orders) {
    for (Worker& worker : workers_) worker.tell("orders 0");
    for (Worker& worker : workers_) orders.append(read_answer(worker.hear()).orders);
    auto own = leader_->orders(0);
    REQUIRE(own);
    orders.append(*std::move(own));
    return orders;
  }

  std::unique_ptr<Server> server_;
  std::unique_ptr<Client> leader_;
  std::vector<Worker> workers_;
};

// Journal and state.
std::string left_by(const PlayedRun& run, int workers) {
  const Folder folder;
  const auto spread = [&](engine::Engine& engine) -> std::unique_ptr<engine::Engine> {
    return std::make_unique<Spread>(engine, folder.path() / "engine.sock", workers);
  };
  engine::bench::play(run, folder, 0, 2, 5, workers == 0 ? engine::bench::Through() : spread);
  return engine::bench::read_file(folder.segment(1)) + engine::bench::read_file(folder.path() / "state.json");
}

}  // namespace

TEST_CASE("one, two, four and eight processes leave the journal and the state of none") {
  for (const PlayedRun& run : engine::bench::played_runs()) {
    INFO(run.name);
    const std::string alone = left_by(run, 0);
    CHECK(alone.size() > 4000);
    for (const int workers : {1, 2, 4, 8}) {
      INFO(workers << " clients");
      CHECK(left_by(run, workers) == alone);
    }
  }
}
