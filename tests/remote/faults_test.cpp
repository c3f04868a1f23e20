// Clients and servers that die, hang or were never there: nobody waits long, nothing is used twice, permits come back.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "runtime/remote/client.h"
#include "runtime/remote/server.h"
#include "tests/engine/bench.h"
#include "tests/folder.h"
#include "tests/remote/calling.h"
#include "tests/remote/impostor.h"
#include "tests/remote/worker_process.h"

using namespace allot;
using namespace allot::remote;
using allot::test::Folder;
using engine::RolloutRef;
using engine::bench::engine_of;
using engine::bench::settings;
using remote::test::ended_line;
using remote::test::turn_line;
using remote::test::Worker;
using namespace remote::test::calling;

namespace {

bool orders_nothing(const engine::Orders& orders) {
  return orders.stop.empty() && orders.hold.empty();
}

}  // namespace

TEST_CASE("an engine that was never started gives the default at once, counted, and one warning") {
  const Folder folder;
  int warnings = 0;
  ClientSettings settings;
  settings.patience = 0.2;
  settings.warn = [&](const std::string& text) {
    ++warnings;
    CHECK(text.find("cannot be reached") != std::string::npos);
    CHECK(text.find("engine.sock") != std::string::npos);
  };
  const auto client = must(Client::connect(folder.path(), settings));
  const auto began = Clock::now();
  for (int i = 0; i < 100; ++i) CHECK(orders_nothing(must(client->turn({0, i}, look()))));
  CHECK(orders_nothing(must(client->orders(0))));
  CHECK(seconds_since(began) < 1);
  CHECK(client->counts().defaults == 100);
  CHECK(warnings == 1);
  CHECK_FALSE(client->reached());
  const auto begun = client->begin_iteration(0, {"p0"});  // there is no default for that
  REQUIRE_FALSE(begun);
  CHECK(begun.error().what.find("cannot be reached") != std::string::npos);
}

TEST_CASE("a server that hangs costs one timeout, and hears what it missed once it goes on") {
  const Folder folder;
  Worker server = remote::test::served(folder.path() / "engine.sock");
  const auto client = client_of(folder.path(), 0.3);
  must(client->begin_iteration(0, {"p0", "p1"}));
  must(client->turn({0, 0}, look()));
  server.signal(SIGSTOP);
  auto began = Clock::now();
  CHECK(orders_nothing(must(client->turn({0, 0}, look()))));
  CHECK(seconds_since(began) < 0.6);
  CHECK(seconds_since(began) >= 0.3);
  began = Clock::now();
  for (int sample = 1; sample < 4; ++sample) must(client->ended({0, sample}, scored(sample % 2)));
  CHECK(seconds_since(began) < 0.4);  // one more wait at most: it backs off
  CHECK(client->counts().defaults == 4);
  server.signal(SIGCONT);
  must(client->ended({0, 0}, scored(1)));
  for (int sample = 0; sample < 4; ++sample) must(client->ended({1, sample}, scored(sample % 2)));
  const auto report = must(client->end_iteration());
  CHECK(report.metrics.at("turns") == 2);  // each once
  CHECK(report.metrics.at("rollouts/completed") == 8);
  CHECK(report.metrics.at("events/duplicate") == 0);
  CHECK(client->counts().lost == 0);
}

TEST_CASE("a killed server gives defaults in time; another one is told nothing of what was before") {
  const Folder folder;
  auto first = std::make_unique<Worker>(remote::test::served(folder.path() / "engine.sock"));
  const auto leader = client_of(folder.path(), 0.3), worker = client_of(folder.path(), 0.3);
  must(leader->begin_iteration(0, {"p0", "p1"}));
  for (int group = 0; group < 2; ++group) {
    for (int sample = 0; sample < 4; ++sample) must(worker->ended({group, sample}, scored(sample % 2)));
  }
  must(leader->end_iteration());
  const std::string checkpoint = leader->save_state();
  must(leader->begin_iteration(1, {"p2", "p3"}));
  must(worker->turn({2, 0}, look()));
  first->kill();
  const auto began = Clock::now();
  for (int i = 0; i < 20; ++i) CHECK(orders_nothing(must(worker->turn({2, 0}, look()))));
  CHECK(seconds_since(began) < 1);
  CHECK(worker->counts().defaults == 20);

  const Worker second = remote::test::served(folder.path() / "engine.sock");
  engine::Orders told;
  for (int tries = 0; told.stop.empty() && tries < 50; ++tries) told = must(worker->orders(0.1));
  CHECK(told.stop == std::vector<RolloutRef>{{2, 0}});  // of an engine that is gone
  CHECK(worker->counts().restarts == 1);
  // The new engine gives the same numbers again: what belongs to the old rollout does not reach the new one.
  const auto refused = leader->end_iteration();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().what.find("was restarted") != std::string::npos);
  CHECK(leader->restore(checkpoint));
  const auto begun = must(leader->begin_iteration(1, {"p2", "p3"}));
  CHECK(begun.start[0].group == 2);
  CHECK(must(worker->turn({2, 0}, look())).stop == std::vector<RolloutRef>{{2, 0}});
  CHECK(worker->counts().lost == 1);
  must(worker->drive({{2, 0}}));  // it is given the new one
  must(worker->turn({2, 0}, look()));
  for (int group = 2; group < 4; ++group) {
    for (int sample = 0; sample < 4; ++sample) must(worker->ended({group, sample}, scored(sample % 2)));
  }
  const auto report = must(leader->end_iteration());
  CHECK(report.iteration == 1);
  CHECK(report.metrics.at("turns") == 1);
}

// It knows of the restart or not, or has tried for so long that its next try is far away.
TEST_CASE("a worker that was idle while the engine was restarted drives what the new one has started") {
  const Folder folder;
  auto first = std::make_unique<Worker>(remote::test::served(folder.path() / "engine.sock"));
  const auto leader = client_of(folder.path()), worker = client_of(folder.path());
  must(leader->begin_iteration(0, {"p0", "p1"}));
  const auto play = [&](int from) {
    for (int group = from; group < from + 2; ++group) {
      for (int sample = 0; sample < 4; ++sample) must(worker->ended({group, sample}, scored(sample % 2)));
    }
  };
  play(0);
  must(leader->end_iteration());
  const std::string checkpoint = leader->save_state();
  first->kill();
  const double looks = GENERATE(-1.0, 0.0, 1.6);  // tries at 0, 0.05, 0.15, 0.35, 0.75 and 1.55 s, then at 3.15 s
  if (looks >= 0) must(worker->orders(looks));
  const Worker second = remote::test::served(folder.path() / "engine.sock");
  CHECK_FALSE(leader->begin_iteration(1, {"p2", "p3"}));  // the run was restarted
  CHECK(leader->restore(checkpoint));
  std::vector<RolloutRef> started;
  for (const engine::Start& start : must(leader->begin_iteration(1, {"p2", "p3"})).start) {
    for (int i = 0; i < start.count; ++i) started.push_back({start.group, start.first + i});
  }
  REQUIRE(started.size() == 8);
  CHECK(started[0] == RolloutRef{2, 0});
  CHECK(orders_nothing(must(worker->drive(started))));
  CHECK(worker->counts().restarts == 1);
  CHECK(worker->counts().defaults == 0);
  play(2);
  CHECK(must(leader->end_iteration()).metrics.at("rollouts/completed") == 8);
}

TEST_CASE("whoever leads is told to stop nothing that the new engine has just started") {
  const Folder folder;
  auto first = std::make_unique<Worker>(remote::test::served(folder.path() / "engine.sock"));
  const auto leader = client_of(folder.path());
  must(leader->begin_iteration(0, {"p0", "p1"}));
  must(leader->drive({{0, 0}, {1, 3}}));
  first->kill();
  const Worker second = remote::test::served(folder.path() / "engine.sock");
  CHECK_FALSE(leader->begin_iteration(0, {"p0", "p1"}));  // the run was restarted
  const auto anew = must(leader->begin_iteration(0, {"p0", "p1"}));
  CHECK(anew.start.size() == 2);  // groups 0 and 1, as before
  CHECK(anew.stop.empty());
}

TEST_CASE("what is driven belongs to the engine that is met on the way, and is not stopped for the one before") {
  const Folder folder;
  const auto answers = [gone = false](std::string_view text, int) mutable -> std::optional<std::string> {
    const Request request = read_request(text);
    if (request.ask == Ask::Drive && !std::exchange(gone, true)) return std::nullopt;  // before it answers
    Answer answer;
    answer.serial = answer.number = request.number;
    return to_text(answer);
  };
  const remote::test::Impostor engines(folder.path(), answers, std::nullopt, true);
  const auto client = client_of(folder.path());
  for (const int sample : {0, 1}) must(client->turn({0, sample}, look()));
  CHECK(must(client->drive({{0, 0}})).stop == std::vector<RolloutRef>{{0, 1}});  // was the other's alone
  CHECK(client->counts().restarts == 1);
  CHECK(client->counts().calls == 3);
  CHECK(client->counts().defaults == 0);
  CHECK(orders_nothing(must(client->turn({0, 0}, look()))));
  CHECK(client->counts().lost == 0);
  CHECK(must(client->turn({0, 1}, look())).stop == std::vector<RolloutRef>{{0, 1}});
}

TEST_CASE("reports that do not fit into memory end their rollout, when the engine can be told") {
  const Folder folder;
  auto engine = engine_of("", settings(1, 3));
  auto server = must(Server::open(*engine, folder.path()));
  ClientSettings small;
  small.timeout = 0.2;
  small.most_waiting = 2000;
  small.warn = [](const std::string&) {};
  const auto client = must(Client::connect(folder.path(), small));
  must(client->begin_iteration(0, {"p0"}));
  server.reset();
  for (int i = 0; i < 100; ++i) must(client->turn({0, i % 2}, look()));
  CHECK(client->counts().lost > 50);
  CHECK(client->counts().lost + client->counts().defaults == 100);
}

TEST_CASE("what a killed client drove ends as aborted, its permits come back, and the others go on") {
  const Folder folder;
  const auto engine =
      engine_of("policy p\nbudget 100000 tokens per run\non finish of group g { train }\n", settings(2, 4));
  auto server = must(Server::open(*engine, folder.path(), {.grace = 0.05}));
  const auto leader = client_of(folder.path(), 2);
  must(leader->begin_iteration(0, {"p0", "p1"}));
  std::vector<Worker> workers;
  for (int i = 0; i < 4; ++i) workers.push_back(remote::test::client(folder.path()));
  for (int sample = 0; sample < 4; ++sample) {
    for (int group = 0; group < 2; ++group)
      workers[static_cast<std::size_t>(sample)].ask(turn_line({group, sample}, look()));
  }
  workers[2].kill();
  for (const int sample : {0, 1, 3}) {
    for (int group = 0; group < 2; ++group) {
      workers[static_cast<std::size_t>(sample)].ask(ended_line({group, sample}, scored(sample % 2)));
    }
  }
  engine::Orders orders;
  while (!orders.batch_closed) orders.append(must(leader->orders(5)));
  const auto report = must(leader->end_iteration());
  CHECK(report.metrics.at("rollouts/aborted") == 2);
  CHECK(report.metrics.at("rollouts/completed") == 6);
  CHECK(report.trained.size() == 2);
  REQUIRE(orders.closed.size() == 2);
  CHECK(orders.closed[0].subset == std::vector<int>{0, 1, 3});
  server.reset();
  const engine::Account* const tokens = engine->ledger().account(lang::BaseUnit::Tokens);
  REQUIRE(tokens != nullptr);
  CHECK(tokens->reserved == 0);
  CHECK(tokens->spent == 8 * 3);  // what was written counts
}

// Fifty kills at moments that a seed chooses, in the middle of calls too: of clients and of the engine itself.
TEST_CASE("thirty-five clients are killed at random moments and every iteration ends") {
  const Folder folder;
  const auto engine = engine_of(R"(
policy p
budget 1000000 tokens per run
refill at most 2 rounds then train_partial
on turn 3 of group g { when draw("gate") < 0.3 then stop, drop, refill otherwise continue }
on finish of group g { when g.scored < 2 then drop, refill otherwise train }
)",
                                settings(3, 4));
  auto server = must(Server::open(*engine, folder.path(), {.grace = 0.01}));
  const auto leader = client_of(folder.path(), 5);
  std::mt19937_64 random(2);
  int killed = 0;
  for (int iteration = 0; iteration < 35; ++iteration) {
    std::vector<Worker> workers;
    for (int i = 0; i < 3; ++i) workers.push_back(remote::test::client(folder.path(), 5));
    struct Live {
      RolloutRef ref;
      int turns = 0;
      bool held = false;
    };
    std::vector<Live> live;
    bool closed = false;
    const auto take = [&](const engine::Orders& orders) {
      for (const RolloutRef& ref : orders.stop) std::erase_if(live, [&](const Live& each) { return each.ref == ref; });
      for (Live& each : live) {
        for (const RolloutRef& ref : orders.hold) each.held = each.held || each.ref == ref;
        for (const RolloutRef& ref : orders.release) each.held = each.held && !(each.ref == ref);
      }
      for (const engine::Start& start : orders.start) {
        for (int i = 0; i < start.count; ++i) live.push_back({{start.group, start.first + i}});
      }
      closed = closed || orders.batch_closed;
    };
    const auto worker_of = [&](const RolloutRef& ref) -> Worker& {
      return workers[static_cast<std::size_t>(ref.group + ref.sample) % workers.size()];
    };
    take(must(leader->begin_iteration(iteration, engine::bench::prompts(9))));
    const std::uint64_t moment = random() % 40;
    for (std::uint64_t event = 0; !closed; ++event) {
      REQUIRE(event < 5000);
      if (event == moment) {  // in the middle of a call, where one of its rollouts can take a turn
        Worker& victim = workers[random() % workers.size()];
        const auto called = std::find_if(live.begin(), live.end(), [&](const Live& each) {
          return &worker_of(each.ref) == &victim && each.turns > 0 && !each.held;
        });
        if (called != live.end()) victim.tell(turn_line(called->ref, look()));
        victim.kill();
        ++killed;
      }
      std::erase_if(live, [&](const Live& each) { return !worker_of(each.ref).alive() && each.turns > 0; });
      const auto next = std::find_if(live.begin(), live.end(), [&](const Live& each) { return !each.held; });
      if (next == live.end()) {
        take(must(leader->orders(0.02)));
        for (Worker& worker : workers) {
          if (worker.alive()) take(worker.ask("orders 0").orders);
        }
        continue;
      }
      const std::size_t chosen = random() % live.size();
      const Live mine = live[chosen].held ? *next : live[chosen];
      if (!worker_of(mine.ref).alive()) {  // it was never begun: the leader gives it up
        std::erase_if(live, [&](const Live& each) { return each.ref == mine.ref; });
        engine::Ending ending;
        ending.status = engine::Status::Aborted;
        take(must(leader->ended(mine.ref, ending)));
      } else if (mine.turns == 5) {
        std::erase_if(live, [&](const Live& each) { return each.ref == mine.ref; });
        take(worker_of(mine.ref).ask(ended_line(mine.ref, scored(static_cast<double>(random() % 2)))).orders);
      } else {
        for (Live& each : live) each.turns += each.ref == mine.ref;
        take(worker_of(mine.ref).ask(turn_line(mine.ref, look())).orders);
      }
    }
    const auto report = must(leader->end_iteration());
    CHECK(report.iteration == iteration);
    CHECK(report.metrics.at("budget/overruns") == 0);
  }
  CHECK(killed == 35);
  CHECK(server->counts().gone >= 30);  // the others had no connection yet
  CHECK(server->counts().refused == 0);
  CHECK(leader->counts().defaults == 0);
  server.reset();
  CHECK(engine->ledger().account(lang::BaseUnit::Tokens)->reserved == 0);
}

TEST_CASE("fifteen servers are killed at random moments; clients never wait long, and the run goes on from its state") {
  const Folder folder;
  const std::filesystem::path path = folder.path() / "engine.sock";
  std::mt19937_64 random(4);
  const auto leader = client_of(folder.path(), 0.3, 0.15), worker = client_of(folder.path(), 0.3);
  int iteration = 0, killed = 0;
  double worst = 0;
  const auto meet = [](Client& client) {  // notices that its engine is gone, and finds the next one
    for (int tries = 0; tries < 3 || (!client.reached() && tries < 500); ++tries) (void)client.orders(0.01);
    REQUIRE(client.reached());
  };
  // The last one may have been carried out without an answer; and where the state is a barrier behind the journal, the
  // one that is missing runs again.
  const auto begin = [&](Client& client) {
    auto begun = client.begin_iteration(iteration, {"p0", "p1"});
    for (const int other : {iteration + 1, iteration - 1}) {
      if (begun) break;
      begun = client.begin_iteration(other, {"p0", "p1"});
      if (begun) iteration = other;
    }
    return begun;
  };
  while (killed < 15) {
    Worker server = remote::test::served(path);
    meet(*leader);
    meet(*worker);
    const auto moment = Clock::now() + std::chrono::milliseconds(1 + random() % 20);
    std::jthread killer([&] {
      std::this_thread::sleep_until(moment);
      server.signal(SIGKILL);
    });
    while (Clock::now() < moment + std::chrono::milliseconds(5)) {
      if (Clock::now() > moment) {  // what needs an engine would wait for one
        const auto began = Clock::now();
        must(worker->turn({0, 0}, look()));
        worst = std::max(worst, seconds_since(began));
        continue;
      }
      const auto begun = begin(*leader);
      if (!begun) break;
      std::vector<RolloutRef> rollouts;
      for (const engine::Start& start : begun->start) {
        for (int i = 0; i < start.count; ++i) rollouts.push_back({start.group, start.first + i});
      }
      must(worker->drive(rollouts));
      for (const RolloutRef& rollout : rollouts) {
        const auto began = Clock::now();
        must(worker->turn(rollout, look()));
        must(worker->ended(rollout, scored(rollout.sample % 2)));
        worst = std::max(worst, seconds_since(began));
      }
      if (Clock::now() > moment) break;
      if (leader->end_iteration()) ++iteration;
    }
    killer.join();
    server.kill();
    ++killed;
    // Of what was acknowledged nothing but the last is to be done again, and that is told. After two more the first of
    // them is on disk.
    const Worker next = remote::test::served(path);
    meet(*leader);
    meet(*worker);
    const auto fresh = client_of(folder.path(), 2);
    for (int more = 0; more < 2; ++more) {
      for (const engine::Start& start : must(begin(*fresh)).start) {
        for (int i = 0; i < start.count; ++i) must(fresh->ended({start.group, start.first + i}, scored(i % 2)));
      }
      must(fresh->end_iteration());
      ++iteration;
    }
  }
  CHECK(worst < 0.9);
  CHECK(worker->counts().restarts == 29);  // thirty engines, each another than the one before
  CHECK(iteration >= 15);
}
