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
#include "tests/remote/forwarding.h"
#include "tests/remote/worker_process.h"

using namespace allot;
using namespace allot::remote;
using engine::bench::Folder;
using engine::bench::PlayedRun;
using test::Worker;

namespace {

// An engine whose events are reported by several processes, the siblings of a group by different ones.
class Spread final : public test::Forwarding {
 public:
  Spread(engine::Engine& engine, const std::filesystem::path& path, int workers) {
    auto server = Server::open(engine, path);
    if (!server) FAIL(server.error().text());
    server_ = *std::move(server);
    auto leader = Client::connect(path);
    if (!leader) FAIL(leader.error().text());
    leader_ = *std::move(leader);
    forward_to(*leader_);
    for (int i = 0; i < workers; ++i) workers_.push_back(test::client(path));
  }

  Result<engine::Orders> turn(engine::RolloutRef rollout, const engine::Turn& turn) override {
    return collect(worker_of(rollout).ask(test::turn_line(rollout, turn)).orders);
  }
  Result<engine::Orders> ended(engine::RolloutRef rollout, const engine::Ending& ending) override {
    return collect(worker_of(rollout).ask(test::ended_line(rollout, ending)).orders);
  }

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
