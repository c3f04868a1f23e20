// Who is told what, who may speak, and what a hostile or slow client can do: nothing to the others.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "runtime/remote/client.h"
#include "runtime/remote/frames.h"
#include "runtime/remote/server.h"
#include "tests/engine/bench.h"
#include "tests/folder.h"
#include "tests/remote/calling.h"
#include "tests/remote/stranger.h"

using namespace allot;
using namespace allot::remote;
using allot::test::Folder;
using engine::bench::engine_of;
using engine::bench::settings;
using namespace remote::test::calling;
using remote::test::Stranger;

namespace {

std::unique_ptr<Server> serve(engine::Engine& engine, const std::filesystem::path& path,
                              const ServerSettings& settings = {}) {
  auto server = Server::open(engine, path, settings);
  if (!server) FAIL(server.error().text());
  return *std::move(server);
}

std::string request(std::uint64_t number, const engine::EventLog& log, std::uint64_t seen = 0) {
  engine::JsonText text;
  begin_request(text, number, seen, Ask::Events);
  log.put(text);
  return frame(text.end_object().take());
}

std::string turn_request(std::uint64_t number, engine::RolloutRef rollout, std::uint64_t seen = 0) {
  engine::EventLog log;
  log.turn(rollout, look(), true, std::nullopt);
  return request(number, log, seen);
}

const char* const gate = R"(
policy gate
on turn 2 of group g { when g.tokens >= 12 then stop, drop because "long" otherwise continue }
on finish of group g { train }
)";

}  // namespace

TEST_CASE("the socket is its owner's alone, has any path, and one engine") {
  const Folder folder;
  auto engine = engine_of("", settings(1, 2));
  const std::filesystem::path path = folder.path() / "engine.sock";
  {
    const auto server = serve(*engine, folder.path());  // a folder: its engine.sock
    struct stat status{};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
    CHECK(S_ISSOCK(status.st_mode));
    const auto second = Server::open(*engine, path);
    REQUIRE_FALSE(second);
    CHECK(second.error().what.find("Another engine is served at") != std::string::npos);
  }
  CHECK_FALSE(std::filesystem::exists(path));
  CHECK(serve(*engine, path));

  const std::filesystem::path deep = folder.path() / std::string(100, 'd') / std::string(100, 'e');
  const auto server = serve(*engine, deep);
  CHECK(client_of(deep)->policy_name().empty());
  CHECK(client_of(deep)->begin_iteration(0, {"p"}));
  const auto long_name = Server::open(*engine, deep / (std::string(120, 'n') + ".sock"));
  REQUIRE_FALSE(long_name);
  CHECK(long_name.error().what.find("too long for a socket") != std::string::npos);
}

TEST_CASE("what a killed process left behind is replaced") {
  const Folder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    auto left = listen_at(folder.path() / "engine.sock");
    ::_exit(left ? 0 : 1);  // no destructor runs
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  REQUIRE(status == 0);
  REQUIRE(std::filesystem::exists(folder.path() / "engine.sock"));
  auto engine = engine_of("", settings(1, 2));
  CHECK(serve(*engine, folder.path()));
}

TEST_CASE("orders go to who drives a rollout, and what concerns the batch to who leads") {
  const Folder folder;
  auto engine = engine_of(gate, settings(1, 2));
  const auto server = serve(*engine, folder.path());
  const auto leader = client_of(folder.path()), one = client_of(folder.path()), two = client_of(folder.path());
  const engine::Orders first = must(leader->begin_iteration(0, {"p0"}));
  REQUIRE(first.start.size() == 1);
  CHECK(must(one->turn({0, 0}, look())).hold.empty());
  CHECK(must(two->drive({{0, 1}})).stop.empty());
  const engine::Orders held = must(one->turn({0, 0}, look()));
  REQUIRE(held.hold.size() == 1);  // its sibling has not taken two turns
  CHECK(must(two->turn({0, 1}, look())).stop.empty());
  const engine::Orders answer = must(two->turn({0, 1}, look()));
  REQUIRE(answer.stop.size() == 1);
  CHECK(answer.stop[0] == engine::RolloutRef{0, 1});
  const engine::Orders pushed = must(one->orders(2));
  REQUIRE(pushed.stop.size() == 1);
  CHECK(pushed.stop[0] == engine::RolloutRef{0, 0});
  CHECK(pushed.closed.empty());
  const engine::Orders batch = must(leader->orders(2));
  REQUIRE(batch.closed.size() == 1);
  CHECK(batch.closed[0].reason == "long");
  CHECK(batch.batch_closed);
  CHECK(must(two->turn({0, 1}, look())).stop.size() == 1);  // it is over, whoever asks
  const auto began = Clock::now();
  CHECK(must(one->orders(0.1)).stop.empty());
  CHECK(Clock::now() - began >= std::chrono::milliseconds(100));
  CHECK(must(leader->end_iteration()).metrics.at("groups/dropped") == 1);
}

TEST_CASE("who takes a held rollout over is told that it is held") {
  const Folder folder;
  auto engine = engine_of(gate, settings(1, 2));
  const auto server = serve(*engine, folder.path());
  const auto one = client_of(folder.path()), two = client_of(folder.path());
  must(one->begin_iteration(0, {"p0"}));
  must(one->turn({0, 0}, look()));
  REQUIRE(must(one->turn({0, 0}, look())).hold.size() == 1);
  CHECK(must(two->drive({{0, 0}})).hold == std::vector<engine::RolloutRef>{{0, 0}});
  CHECK(must(one->drive({{5, 0}})).stop.size() == 1);  // was never started
}

TEST_CASE("fault 31: a policy that no client's turn reaches is an error that says so") {
  const Folder folder;
  auto engine = engine_of("policy gate\non turn 2 of group g { stop }\n", settings(1, 2));
  const auto server = serve(*engine, folder.path());
  const auto client = client_of(folder.path());
  must(client->begin_iteration(0, {"p0"}));
  must(client->ended({0, 0}, scored(1)));
  must(client->ended({0, 1}, scored(0)));
  const auto report = client->end_iteration();
  REQUIRE_FALSE(report);
  CHECK(report.error().what.find("policy gate loaded, 0 decisions in iteration 0") != std::string::npos);
  CHECK(report.error().what.find("no turn of theirs was reported") != std::string::npos);
}

TEST_CASE("a repeated request is answered the same and carried out once") {
  const Folder folder;
  auto engine = engine_of("", settings(1, 2));
  const auto server = serve(*engine, folder.path());
  const auto leader = client_of(folder.path());
  must(leader->begin_iteration(0, {"p0"}));
  std::string first;
  {
    Stranger once(folder.path());
    CHECK(once.greet("s").last == 0);
    once.say(turn_request(1, {0, 0}));
    first = once.hear().value();
  }
  Stranger again(folder.path());
  CHECK(again.greet("s").last == 1);     // it knows request 1
  CHECK(again.hear().value() == first);  // and says its answer again
  again.say(turn_request(1, {0, 0}) + turn_request(2, {0, 0}, 1));
  CHECK(read_answer(again.hear().value()).number == 2);
  REQUIRE(within(2, [&] { return server->counts().repeated == 1; }));
  must(leader->ended({0, 0}, scored(1)));
  must(leader->ended({0, 1}, scored(1)));
  CHECK(must(leader->end_iteration()).metrics.at("turns") == 2);
}

TEST_CASE("another version of the protocol is told, and closed") {
  const Folder folder;
  auto engine = engine_of("", settings(1, 2));
  const auto server = serve(*engine, folder.path());
  Stranger old(folder.path());
  const Welcome welcome = old.greet("old", 0, protocol + 1);
  REQUIRE(welcome.refused);
  CHECK(welcome.refused->what.find(fmt::format("this client version {}", protocol + 1)) != std::string::npos);
  CHECK_FALSE(old.hear());
}

TEST_CASE("what no client sends ends its connection, is counted, and disturbs nobody") {
  const Folder folder;
  auto engine = engine_of("", settings(1, 4));
  const auto server = serve(*engine, folder.path(), {.grace = 0.05, .greeting = 0.3});
  const auto good = client_of(folder.path());
  must(good->begin_iteration(0, {"p0"}));
  const std::vector<std::string> strange = {
      std::string(4, '\0'),
      "\xff\xff\xff\xff",
      "GET / HTTP/1.1\r\n\r\n",
      frame("nonsense"),
      frame("{}"),
      frame(R"({"allot":3,"client":"","seen":0})"),
      frame(R"({"allot":3,"client":"x","seen":-1})"),
      frame(std::string(4000, '[')),
      frame(to_text(Greeting{protocol, "y", 0})) + frame(R"({"q":1,"call":"events","kinds":"t","g":[1e300]})"),
      frame(to_text(Greeting{protocol, "z", 0})) + frame(std::string(1 << 20, '['))};
  std::int64_t refused = 0;
  for (const std::string& bytes : strange) {
    INFO(&bytes - strange.data());
    Stranger stranger(folder.path());
    stranger.say(bytes);
    while (stranger.hear()) {
    }
    CHECK(within(2, [&] { return server->counts().refused == refused + 1; }));
    refused = server->counts().refused;
    CHECK(must(good->turn({0, 0}, look())).stop.empty());
  }
  Stranger silent(folder.path());  // and says nothing
  CHECK_FALSE(silent.hear());
  CHECK(within(2, [&] { return server->counts().refused == refused + 1; }));
  CHECK(good->counts().defaults == 0);
}

TEST_CASE("more connections than there may be are turned away, the others stay") {
  const Folder folder;
  auto engine = engine_of("", settings(1, 4));
  const auto server = serve(*engine, folder.path(), {.connections = 3});
  const auto good = client_of(folder.path());
  std::vector<std::unique_ptr<Stranger>> strangers;
  for (int i = 0; i < 6; ++i) strangers.push_back(std::make_unique<Stranger>(folder.path()));
  CHECK(within(2, [&] { return server->counts().refused == 4; }));
  CHECK(good->policy_hash().empty());
  CHECK(good->reached());
}

TEST_CASE("a client that does not read is dropped, and nobody waits for it") {
  const Folder folder;
  auto engine = engine_of("", settings(2, 4));
  const auto server = serve(*engine, folder.path(), {.buffer_limit = 32 << 10});
  const auto good = client_of(folder.path());
  must(good->begin_iteration(0, {"p0", "p1"}));
  Stranger slow(folder.path());
  slow.greet("slow");
  double worst = 0;
  for (std::uint64_t number = 1; server->counts().slow == 0; ++number) {
    REQUIRE(number < 20000);
    slow.say(turn_request(number, {0, 0}));
    const auto began = Clock::now();
    must(good->turn({1, 0}, look()));
    worst = std::max(worst, std::chrono::duration<double>(Clock::now() - began).count());
  }
  CHECK(worst < 0.5);
  CHECK(good->counts().defaults == 0);
  // What it drove ended: with the other seven the batch closes.
  for (int group = 0; group < 2; ++group) {
    for (int sample = 0; sample < 4; ++sample) {
      if (group != 0 || sample != 0) must(good->ended({group, sample}, scored(sample % 2)));
    }
  }
  const auto report = must(good->end_iteration());
  CHECK(report.metrics.at("rollouts/aborted") == 1);
  CHECK(server->counts().aborted == 1);
}

TEST_CASE("an answer that is asked for may be larger than the buffer") {
  const Folder folder;
  auto engine = engine_of(
      "policy p\nstate seen: int per prompt = 0\non update of batch b { for each g in b.ended { "
      "remember seen[g.prompt] = seen[g.prompt] + 1 } }\n",
      settings(20, 1));
  const auto server = serve(*engine, folder.path(), {.buffer_limit = 256});
  const auto client = client_of(folder.path());
  must(client->begin_iteration(0, engine::bench::prompts(20)));
  for (int group = 0; group < 20; ++group) must(client->ended({group, 0}, scored(1)));
  must(client->end_iteration());
  const std::string state = client->save_state();
  CHECK(state.size() > 3 * 256);
  CHECK(state == engine->save_state());
  CHECK(client->restore(state));
  CHECK(server->counts().slow == 0);
}

TEST_CASE("threads share a client, or have one each") {
  const Folder folder;
  auto engine = engine_of("", settings(8, 8));
  const auto server = serve(*engine, folder.path());
  const auto shared = client_of(folder.path());
  std::vector<std::string> prompts = engine::bench::prompts(8);
  must(shared->begin_iteration(0, prompts));
  std::atomic<int> failures = 0;
  {
    std::vector<std::jthread> threads;
    for (int group = 0; group < 8; ++group) {
      threads.emplace_back([&, group] {
        const auto own = group % 2 == 0 ? nullptr : client_of(folder.path());
        Client& client = own ? *own : *shared;
        for (int turn = 0; turn < 20; ++turn) {
          for (int sample = 0; sample < 8; ++sample) failures += !client.turn({group, sample}, look(turn == 19));
        }
        for (int sample = 0; sample < 8; ++sample) failures += !client.ended({group, sample}, scored(sample % 2));
      });
    }
  }
  CHECK(failures == 0);
  const auto report = must(shared->end_iteration());
  CHECK(report.metrics.at("turns") == 8 * 8 * 20);
  CHECK(report.trained.size() == 8);
}

TEST_CASE("a client that was closed says so, and does not come back") {
  const Folder folder;
  auto engine = engine_of("", settings(1, 2));
  const auto server = serve(*engine, folder.path(), {.grace = 0});
  const auto client = client_of(folder.path());
  must(client->begin_iteration(0, {"p0"}));
  std::jthread waiting([&] {
    const auto orders = client->orders(10);
    CHECK_FALSE(orders);  // not ten seconds without an order
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  client->close();
  waiting.join();
  CHECK(within(2, [&] { return server->counts().connected == 0; }));
  const auto refused = [](const auto& result) {
    return !result && result.error().what.find("client is closed") != std::string::npos;
  };
  CHECK(refused(client->turn({0, 0}, look())));
  CHECK(refused(client->ended({0, 0}, scored(1))));
  CHECK(refused(client->drive({{0, 0}})));
  CHECK(refused(client->orders(0)));
  CHECK(refused(client->begin_iteration(1, {"p0"})));
  CHECK(refused(client->end_iteration()));
  CHECK(refused(client->restore("{}")));
  CHECK_THROWS_AS(client->save_state(), Unanswered);
  CHECK(server->counts().connections == 1);
  CHECK(client->counts().defaults == 0);  // it is no engine that is missing
  client->close();
}

TEST_CASE("the child of a fork closes nothing of its parent's server") {
  const Folder folder;
  auto engine = engine_of("", settings(1, 2));
  auto server = serve(*engine, folder.path());
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(10);  // where it would wait for a thread that it does not have
    server.reset();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(client_of(folder.path())->policy_hash().empty());
}

TEST_CASE("the child of a fork is a client of its own") {
  const Folder folder;
  auto engine = engine_of("", settings(1, 2));
  const auto server = serve(*engine, folder.path());
  const auto client = client_of(folder.path());
  must(client->begin_iteration(0, {"p0"}));
  const pid_t child = ::fork();
  if (child == 0) {
    const auto orders = client->ended({0, 0}, scored(1));
    ::_exit(orders && client->counts().defaults == 0 ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(must(client->ended({0, 1}, scored(1))).batch_closed);
}
