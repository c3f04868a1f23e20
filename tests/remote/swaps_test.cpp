// Swaps through a client: what comes of them is what comes of them in process, nobody waits for one, and none is lost.
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "runtime/engine/swap_files.h"
#include "runtime/remote/client.h"
#include "runtime/remote/server.h"
#include "tests/engine/swapping.h"
#include "tests/folder.h"
#include "tests/remote/calling.h"
#include "tests/remote/forwarding.h"
#include "tests/remote/impostor.h"
#include "tests/remote/stranger.h"

using namespace allot;
using namespace allot::remote;
using allot::test::Folder;
using engine::SwapOutcome;
using engine::SwapReport;
using engine::SwapRequest;
using engine::bench::settings;
using engine::swapping::back;
using engine::swapping::engine_of;
using engine::swapping::gate;
using engine::swapping::request_of;
using namespace remote::test::calling;
using remote::test::Impostor;
using remote::test::Stranger;

namespace {

struct Swapped {
  std::vector<std::string> outcomes;
  std::vector<std::string> all;  // reports, and who was active after each
  std::string state;
};

// All that can come of a swap, at an engine or through a client of it.
Swapped swapped(bool through_client) {
  const Folder folder;
  const auto own = engine_of(gate(0.25), settings(2, 2));
  const auto server = through_client ? must(Server::open(*own, folder.path())) : nullptr;
  const auto client = through_client ? client_of(folder.path()) : nullptr;
  engine::Engine& engine = through_client ? static_cast<engine::Engine&>(*client) : *own;
  Swapped swapped;
  const auto note = [&](SwapReport report) {
    report.seconds = 0;
    swapped.outcomes.emplace_back(name(report.outcome));
    const engine::ActiveVersion active = engine.active();
    swapped.all.push_back(engine::to_text(report) + std::to_string(active.number) +
                          engine::policy_words(active.hash, active.parameters));
    return report.ticket;
  };
  note(engine.swap(request_of(gate(0.75), "0123456789")));
  note(engine.swap(request_of(gate(0.75), engine.policy_hash())));
  note(engine.swap(request_of(gate(0.75))));
  SwapRequest other = request_of(gate(0.75));
  other.parameters = {{"least", "0.5"}};
  note(engine.swap(other));
  engine::bench::Driver driver(engine, engine::swapping::by_digit);
  driver.generate(0, engine::bench::prompts(2));
  SwapRequest canary = request_of(gate(0.1));
  canary.canary = 0.5;
  note(engine.swap(canary));
  note(engine.swap(back(engine::StateOf::Now)));  // takes the canary back
  const std::string remembers = "policy gate\nparam least: real = 0.75\nstate total: int per run = 0\n"
                                "on finish of group g { train }\non update of batch b { remember total = total + 1 }\n";
  const int waits = note(engine.swap(request_of(remembers)));
  note(engine.swap_outcome(waits));
  REQUIRE(engine.end_iteration());
  note(engine.swap_outcome(waits));
  note(engine.swap(back(engine::StateOf::Then)));
  note(engine.swap(request_of("policy gate\non nothing\n")));
  for (const double share : {2.0, std::nan("")}) {
    canary.canary = share;
    note(engine.swap(canary));
  }
  CHECK(engine.swap_outcome(1000).ticket == 0);
  swapped.state = engine.save_state();
  return swapped;
}

// Its swaps wait until they are let go.
class Slow final : public remote::test::Forwarding {
 public:
  using Forwarding::Forwarding;

  SwapReport swap(const SwapRequest& request) override {
    {
      std::unique_lock lock(mutex_);
      asked_ = request;
      ++begun_;
      changed_.notify_all();
      changed_.wait_for(lock, std::chrono::seconds(20), [&] { return let_go_; });
    }
    return Forwarding::swap(request);
  }
  void let_go() {
    const std::lock_guard lock(mutex_);
    let_go_ = true;
    changed_.notify_all();
  }
  bool has_begun() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(10), [&] { return begun_ > 0; });
  }
  SwapRequest asked() {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  SwapRequest asked_;
  int begun_ = 0;
  bool let_go_ = false;
};

std::string swap_call(std::uint64_t number, const SwapRequest& request) {
  engine::JsonText text;
  begin_request(text, number, 0, Ask::Swap);
  put_request(text, request);
  return frame(text.end_object().take());
}

std::string outcome_call(std::uint64_t number, int ticket) {
  engine::JsonText text;
  begin_request(text, number, 0, Ask::Outcome);
  return frame(text.member("ticket", ticket).end_object().take());
}

// Takes a swap, which is number 7, after so long, or does not answer; and never tells what came of it. It says
// something else instead, or closes the connection.
Impostor::Answers never_telling(bool takes, double after, bool closes) {
  return [=](std::string_view text, int) -> std::optional<std::string> {
    const Request request = read_request(text);
    if (takes && request.ask == Ask::Swap) {
      std::this_thread::sleep_for(std::chrono::duration<double>(after));
      Answer answer;
      answer.serial = answer.number = request.number;
      answer.ticket = 7;
      return to_text(answer);
    }
    if (closes) return std::nullopt;
    return to_text(Answer());  // orders of nothing, unasked
  };
}

Answer heard(Stranger& stranger) {
  return read_answer(stranger.hear().value());
}

}  // namespace

TEST_CASE("what comes of swaps through a client is what comes of them in process") {
  const Swapped alone = swapped(false), through = swapped(true);
  // By docs/operations.md: another version is expected; taken; the same again; other parameters; a canary, which a
  // rollback takes back; state that is declared anew waits for the barrier, and is active after it; back; no policy; no
  // share.
  CHECK(alone.outcomes == std::vector<std::string>{"refused", "active", "unchanged", "active", "canary", "active",
                                                   "waiting", "waiting", "active", "active", "refused", "refused",
                                                   "refused"});
  CHECK(through.all == alone.all);
  CHECK(through.state == alone.state);
}

TEST_CASE("a policy takes along what it imports as that is where the client is") {
  const Folder folder;
  folder.write("part.allot", "policy part\nfn worth(x: real) -> real = x\n");
  const auto file =
      folder.write("gate.allot", "policy gate\nimport part as part\non finish of group g {\n"
                                 "  when part.worth(g.reward_mean ?? 0) > 2 then drop otherwise train }\n");
  const auto own = engine_of(gate(0.25), settings(1, 2));
  Slow slow(*own);
  slow.let_go();
  const auto server = must(Server::open(slow, folder.path()));
  const auto client = client_of(folder.path());
  SwapRequest request;
  request.text = must(engine::read_policy_text(file));
  const SwapReport report = client->swap(request);
  INFO(report.reason);
  CHECK(report.outcome == SwapOutcome::Active);
  CHECK(slow.asked().text.whole);
  REQUIRE(slow.asked().text.used.size() == 1);
  CHECK(slow.asked().text.used[0].file.text.find("fn worth") != std::string::npos);
  CHECK(client->policy_hash() == must(engine::load_policy(file, {}))->program().hash);
  request.text = {};
  request.policy = engine::swapping::policy_of(gate(0.5));
  CHECK(client->swap(request).reason.find("loaded already does not travel") != std::string::npos);
  CHECK(client->active_version() == 1);
}

TEST_CASE("nobody waits for a swap, neither other clients nor other threads of the one that asked") {
  const Folder folder;
  const auto own = engine_of(gate(0.25), settings(1, 2));
  Slow slow(*own);
  const auto server = must(Server::open(slow, folder.path()));
  const auto leader = client_of(folder.path()), other = client_of(folder.path());
  must(leader->begin_iteration(0, {"p0"}));
  SwapReport report;
  std::jthread asking([&] { report = leader->swap(request_of(gate(0.75))); });
  REQUIRE(slow.has_begun());
  for (int turn = 0; turn < 10; ++turn) {
    must(leader->turn({0, 0}, look()));
    must(other->turn({0, 1}, look()));
  }
  CHECK(own->active_version() == 0);
  CHECK(leader->counts().defaults + other->counts().defaults == 0);
  slow.let_go();
  asking.join();
  CHECK(report.outcome == SwapOutcome::Active);
  CHECK(other->active().number == 1);
}

TEST_CASE("a swap whose client is gone is carried out, and once however often its request comes") {
  const Folder folder;
  const auto own = engine_of(gate(0.25), settings(1, 2));
  Slow slow(*own);
  const auto server = must(Server::open(slow, folder.path(), {.grace = 60}));
  const std::string call = swap_call(1, request_of(gate(0.75)));
  {
    Stranger gone(folder.path());
    gone.greet("s");
    gone.say(call);
    CHECK(heard(gone).ticket == 1);
  }
  Stranger again(folder.path());
  CHECK(again.greet("s").last == 1);
  CHECK(heard(again).ticket == 1);  // the same answer
  again.say(call + outcome_call(2, 1));
  const Answer early = heard(again);
  REQUIRE(early.swap);
  CHECK(early.swap->ticket == 0);  // nothing is known yet
  slow.let_go();
  REQUIRE(within(10, [&] { return own->active_version() == 1; }));
  again.say(outcome_call(3, 1));
  const Answer late = heard(again);
  REQUIRE(late.swap);
  CHECK(late.swap->outcome == SwapOutcome::Active);
  CHECK(late.swap->version == 1);
  CHECK(server->counts().repeated == 1);
  CHECK(own->active_version() == 1);
}

TEST_CASE("whoever waits too long for a swap is told where to ask, and a server that closes carries it out") {
  const Folder folder;
  const auto own = engine_of(gate(0.25), settings(1, 2));
  Slow slow(*own);
  auto server = must(Server::open(slow, folder.path()));
  const auto hasty = client_of(folder.path(), 2, 0.3);
  const auto began = Clock::now();
  CHECK_THROWS_WITH(hasty->swap(request_of(gate(0.75))), Catch::Contains("swap_outcome(1)"));
  CHECK(seconds_since(began) >= 0.3);
  CHECK(seconds_since(began) < 2);
  CHECK(hasty->swap_outcome(1).ticket == 0);
  std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    slow.let_go();
  });
  server.reset();
  CHECK(own->active_version() == 1);
  CHECK_THROWS_AS(hasty->swap(request_of(gate(0.5))), Unanswered);
}

TEST_CASE("of swaps that come faster than they are prepared only so many are taken at once") {
  const Folder folder;
  const auto own = engine_of(gate(0.25), settings(1, 2));
  Slow slow(*own);
  const auto server = must(Server::open(slow, folder.path()));
  Stranger eager(folder.path());
  eager.greet("eager");
  std::string calls;
  for (std::uint64_t number = 1; number <= 17; ++number) calls += swap_call(number, request_of(gate(0.75)));
  eager.say(calls);
  for (int ticket = 1; ticket <= 16; ++ticket) CHECK(heard(eager).ticket == ticket);
  const Answer refused = heard(eager);
  REQUIRE(refused.error);
  CHECK(refused.error->what.find("16 swaps are under way") != std::string::npos);
  slow.let_go();
  REQUIRE(within(10, [&] { return own->swap_outcome(16).ticket == 16; }));
  CHECK(own->active_version() == 1);  // the last wins, with what all of them say
}

TEST_CASE("a swap whose answer does not come may be carried out, which is told; one that was not sent is not") {
  const Folder folder;
  const auto nowhere = client_of(folder.path() / "nowhere.sock", 0.1, 0.1);
  CHECK_THROWS_WITH(nowhere->swap(request_of(gate(0.75))),
                    Catch::Contains("cannot be reached") && !Catch::Contains("carried out"));
  const Impostor engine(folder.path(), never_telling(false, 0, GENERATE(false, true)));
  const auto client = client_of(folder.path(), 0.1, 0.3);
  CHECK_THROWS_WITH(client->swap(request_of(gate(0.75))),
                    Catch::Contains("may be carried out all the same: look at active_version"));
}

TEST_CASE("a swap that was taken names its ticket, whatever hides its outcome, and waits no longer than patience") {
  const Folder folder;
  const Impostor engine(folder.path(), never_telling(true, 0.7, GENERATE(false, true)));
  const auto client = client_of(folder.path(), 0.1, 1);
  const auto began = Clock::now();
  CHECK_THROWS_WITH(client->swap(request_of(gate(0.75))), Catch::Contains("swap_outcome(7)"));
  CHECK(seconds_since(began) >= 1);
  CHECK(seconds_since(began) < 1.5);  // not 0.7 and then 1
}
