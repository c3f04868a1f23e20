// How long calls wait: as long as they were told, for an engine that comes in time, and no longer than whoever called likes.
#include <signal.h>

#include <chrono>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "runtime/remote/client.h"
#include "runtime/remote/server.h"
#include "tests/engine/bench.h"
#include "tests/folder.h"
#include "tests/remote/calling.h"
#include "tests/remote/worker_process.h"

using namespace allot;
using namespace allot::remote;
using allot::test::Folder;
using engine::bench::engine_of;
using engine::bench::settings;
using remote::test::Worker;
using namespace remote::test::calling;

// Tries come after 0.05 s and then twice as long each time. Wherever the time ends between two of them, it is waited for.
TEST_CASE("whoever leads waits as long as was asked, not only to the last try") {
  const Folder folder;
  for (const double patience : {0.01, 0.1, 0.3, 0.6}) {
    const auto client = client_of(folder.path(), 0.2, patience);
    const auto began = Clock::now();
    const auto begun = client->begin_iteration(0, {"p0"});
    const double waited = seconds_since(began);
    REQUIRE_FALSE(begun);
    CHECK(waited >= patience);
    CHECK(waited < patience + 1);
  }
}

// A duration of more than 292 years does not fit into 64 bits of nanoseconds: unclamped, 1e300 s ended before they began.
TEST_CASE("what is no time is refused by its name, and endless ones are waited") {
  const Folder folder;
  constexpr double none = std::numeric_limits<double>::quiet_NaN(), endless = std::numeric_limits<double>::infinity();
  const auto refused = [&](double ClientSettings::* time, double seconds) {
    ClientSettings settings;
    settings.*time = seconds;
    const auto client = Client::connect(folder.path(), settings);
    return client ? std::string() : client.error().what;
  };
  for (const double seconds : {none, -1.0, 0.0, -endless}) {
    INFO(seconds);
    CHECK(refused(&ClientSettings::timeout, seconds).find("timeout is ") == 0);
    CHECK(refused(&ClientSettings::patience, seconds).find("patience is ") == 0);
  }
  auto engine = engine_of("", settings(1, 2));
  for (const double seconds : {none, -1.0, -endless}) {
    INFO(seconds);
    const auto server = Server::open(*engine, folder.path(), {.grace = seconds});
    REQUIRE_FALSE(server);
    CHECK(server.error().what.find("grace is ") == 0);
  }
  const auto server = must(Server::open(*engine, folder.path(), {.grace = endless}));
  for (const double seconds : {endless, 1e300, 1e10}) {
    INFO(seconds);
    const auto client = client_of(folder.path(), seconds, seconds);
    CHECK(client->policy_hash().empty());
    CHECK(client->reached());
    for (const double wait : {none, -1.0, -endless}) CHECK_FALSE(client->orders(wait));
  }
  const auto leader = client_of(folder.path(), endless), other = client_of(folder.path(), endless);
  int iteration = 0;
  for (const double seconds : {endless, 1e10}) {
    INFO(seconds);
    const int group = must(leader->begin_iteration(iteration++, {"p0"})).start.at(0).group;
    std::jthread later([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      for (int sample = 0; sample < 2; ++sample) (void)other->ended({group, sample}, scored(1));
    });
    CHECK(must(leader->orders(seconds)).batch_closed);
    later.join();
    must(leader->end_iteration());
  }
}

TEST_CASE("whoever leads waits for an engine that comes later") {
  const Folder folder;
  auto engine = engine_of("", settings(1, 2));
  const auto client = client_of(folder.path(), 0.2);
  std::unique_ptr<Server> server;
  std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    server = must(Server::open(*engine, folder.path()));
  });
  CHECK(must(client->begin_iteration(0, {"p0"})).start.size() == 1);
}

// Empty answers would be a checkpoint without an engine, a policy that shapes nothing, an iteration without a group.
TEST_CASE("what only looks waits for a server that hangs, and then says that there is none") {
  const Folder folder;
  Worker server = remote::test::served(folder.path() / "engine.sock");
  const auto client = client_of(folder.path(), 0.1, 0.2);
  must(client->begin_iteration(0, {"p0", "p1"}));
  for (int group = 0; group < 2; ++group) {
    for (int sample = 0; sample < 4; ++sample) must(client->ended({group, sample}, scored(sample % 2)));
  }
  const engine::MicroBatch group{{{0, 0}, {0, 1}}, {0.5, -0.5}, {}};
  const std::vector<std::function<void()>> looks{
      [&] { (void)client->save_state(); },           [&] { (void)client->preview(); },
      [&] { (void)client->unused_prompts(); },       [&] { (void)client->policy_name(); },
      [&] { (void)client->policy_hash(); },          [&] { (void)client->replay_age(); },
      [&] { (void)client->shapes_groups(); },        [&] { (void)client->shapes_micro_batches(); },
      [&] { (void)client->wants_gram(); },           [&] { (void)client->wants_embeddings(); },
      [&] { (void)client->active_version(); },       [&] { (void)client->saved_change(); },
      [&] { (void)client->seconds_spent(); },        [&] { (void)client->active(); },
      [&] { (void)client->token_loss(); },           [&] { (void)client->swap_outcome(1); },
      [&] { (void)client->swap(engine::SwapRequest()); }};
  for (const auto& look_at : looks) CHECK_NOTHROW(look_at());
  server.signal(SIGSTOP);
  for (const auto& look_at : looks) {
    const auto began = Clock::now();
    CHECK_THROWS_AS(look_at(), Unanswered);
    CHECK(seconds_since(began) >= 0.2);
  }
  for (const auto& shaped : {client->shape_group(group), client->shape(group)}) {
    REQUIRE_FALSE(shaped);
    CHECK(shaped.error().what.find("cannot be reached") != std::string::npos);
  }
  CHECK_FALSE(client->restore("{}"));
  CHECK(client->counts().defaults == 0);  // none was taken
}

TEST_CASE("advantages are shaped by an engine that is away for a moment") {
  const Folder folder;
  const std::string doubling = "policy p\non shape of group g { set advantages = [(a ?? 0) * 2 for a in g.advantages] }\n";
  const auto engine = engine_of(doubling, settings(1, 2));
  must(engine->begin_iteration(0, {"p0"}));
  for (int sample = 0; sample < 2; ++sample) must(engine->ended({0, sample}, scored(sample)));
  const auto client = client_of(folder.path(), 0.1);
  std::unique_ptr<Server> server;
  std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    server = must(Server::open(*engine, folder.path()));
  });
  CHECK(must(client->shape_group({{{0, 0}, {0, 1}}, {0.5, -0.5}, {}})).advantages == std::vector<double>{1.0, -1.0});
}

TEST_CASE("whoever waits may end it at any time, and what was reported is told all the same") {
  struct Enough {};
  const Folder folder;
  auto until = Clock::time_point::max();
  ClientSettings patient;
  patient.timeout = patient.patience = 20;
  patient.warn = [](const std::string&) {};
  patient.between = [&] {
    if (Clock::now() > until) throw Enough();
  };
  const auto ends = [&](const std::function<void()>& call) {
    const auto began = Clock::now();
    until = began + std::chrono::milliseconds(100);
    CHECK_THROWS_AS(call(), Enough);
    CHECK(seconds_since(began) < 2);
    until = Clock::time_point::max();
  };
  const auto client = must(Client::connect(folder.path(), patient));
  const auto worker = must(Client::connect(folder.path(), patient));
  ends([&] { (void)client->orders(20); });
  ends([&] { (void)client->save_state(); });
  ends([&] { (void)client->begin_iteration(0, {"p0"}); });
  {
    const Listener deaf = must(listen_at(socket_of(folder.path())));  // takes connections and says nothing
    ends([&] { (void)worker->turn({0, 0}, look()); });
    ends([&] { (void)Client::connect(folder.path(), patient); });
  }
  auto engine = engine_of("", settings(1, 2));
  const auto server = must(Server::open(*engine, folder.path()));
  for (int tries = 0; !client->reached() && tries < 100; ++tries) must(client->orders(0.05));
  CHECK(client->reached());
  const auto leader = client_of(folder.path(), 2);
  must(leader->begin_iteration(0, {"p0"}));  // so the one that was ended has not come
  for (int sample = 0; sample < 2; ++sample) must(worker->ended({0, sample}, scored(sample)));
  CHECK(must(leader->end_iteration()).metrics.at("turns") == 1);
  CHECK(worker->counts().lost == 0);
}

// As the handler of a signal does, in the thread of the call.
TEST_CASE("what is called while a call waits may look at the client, and is told that it cannot ask") {
  const Folder folder;
  std::unique_ptr<Client> client;
  int told = 0;
  ClientSettings settings;
  settings.timeout = 0.2;
  settings.patience = 0.3;
  settings.between = [&] {
    if (!client) return;
    const auto turned = client->turn({0, 0}, look());
    REQUIRE_FALSE(turned);
    CHECK(turned.error().what.find("A call of this client waits in the same thread") == 0);
    CHECK_THROWS_AS(client->save_state(), Unanswered);
    CHECK_FALSE(client->reached());
    CHECK(client->counts().calls == 1);  // begin_iteration() below
    ++told;
  };
  client = must(Client::connect(folder.path(), settings));
  const auto begun = client->begin_iteration(0, {"p0"});
  REQUIRE_FALSE(begun);
  CHECK(begun.error().what.find("cannot be reached") != std::string::npos);
  CHECK(told > 0);
}

TEST_CASE("a client that is closed while its call waits leaves with what was reported") {
  const Folder folder;
  Worker server = remote::test::served(folder.path() / "engine.sock");
  const auto leader = client_of(folder.path(), 5);
  must(leader->begin_iteration(0, {"p0", "p1"}));
  std::unique_ptr<Client> client;
  bool closes = false;
  ClientSettings settings;
  settings.timeout = settings.patience = 20;
  settings.between = [&] {
    if (!std::exchange(closes, false)) return;
    client->close();
    server.signal(SIGCONT);
  };
  client = must(Client::connect(folder.path(), settings));
  server.signal(SIGSTOP);
  closes = true;
  const auto began = Clock::now();
  const auto turned = client->turn({0, 0}, look());
  CHECK(seconds_since(began) < 10);
  REQUIRE_FALSE(turned);
  CHECK(turned.error().what.find("This client is closed") == 0);
  CHECK_FALSE(client->turn({0, 0}, look()));
  engine::Orders orders;
  for (int group = 0; group < 2; ++group) {
    for (int sample = group == 0 ? 1 : 0; sample < 4; ++sample)
      orders.append(must(leader->ended({group, sample}, scored(sample % 2))));
  }
  while (!orders.batch_closed) orders.append(must(leader->orders(5)));
  const auto report = must(leader->end_iteration());
  CHECK(report.metrics.at("turns") == 1);
  CHECK(report.metrics.at("rollouts/aborted") == 1);
}
