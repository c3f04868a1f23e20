// Events of one group beside those of others: nobody waits for another group, nor for a swap, and what comes of it is a run
// that one client could have driven.
#include <algorithm>
#include <atomic>
#include <future>
#include <set>
#include <thread>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "runtime/engine/auditing.h"
#include "runtime/engine/replaying.h"
#include "tests/engine/clients.h"
#include "tests/engine/folder.h"

using namespace allot;
using namespace allot::engine;
using bench::drive;
using bench::engine_of;
using bench::Folder;
using bench::Outcome;
using bench::policy_of;
using bench::prompts;
using bench::settings;
using namespace std::chrono_literals;

namespace {

// Waits inside the first question until it may go on.
class Waiting final : public compiler::Executable {
 public:
  Waiting(std::unique_ptr<compiler::Executable> inner, std::promise<void>& asked, std::shared_future<void> go_on)
      : inner_(std::move(inner)), asked_(asked), go_on_(std::move(go_on)) {}
  void decide(int handler, const compiler::Frame& frame, compiler::Outcome& outcome) const noexcept override {
    if (first_.exchange(false)) {
      asked_.set_value();
      go_on_.wait();
    }
    inner_->decide(handler, frame, outcome);
  }
  lang::Cell hit(const compiler::Frame& frame) const noexcept override { return inner_->hit(frame); }

 private:
  std::unique_ptr<compiler::Executable> inner_;
  std::promise<void>& asked_;
  std::shared_future<void> go_on_;
  mutable std::atomic<bool> first_ = true;
};

Turn plain_turn() {
  Turn turn;
  turn.action = "go";
  turn.tokens = 2;
  return turn;
}

// Whether it comes to its end within a time that no event takes.
bool ends(const std::function<void()>& work) {
  auto done = std::make_shared<std::promise<void>>();
  auto ended = done->get_future();
  std::thread([work, done] { work(); done->set_value(); }).detach();
  return ended.wait_for(20s) == std::future_status::ready;
}

SwapRequest to(std::shared_ptr<Policy> policy) {
  SwapRequest request;
  request.policy = std::move(policy);
  return request;
}

std::shared_ptr<Policy> loaded(const std::string& text) {
  PolicyText made;
  made.file = "beside.allot";
  made.text = text;
  made.whole = true;
  auto policy = load_policy(made, {});
  if (!policy) FAIL(policy.error().text());
  return *std::move(policy);
}

// Swaps, and asks for what needs the whole engine, while `work` goes on.
int disturb(LiveEngine& engine, const std::vector<std::shared_ptr<Policy>>& policies, const std::function<void()>& work) {
  std::atomic<bool> stop = false;
  int swaps = 0;
  {
    std::jthread swapping([&] {
      for (std::size_t next = 1; !stop; ++next) {
        const SwapReport report = engine.swap(to(policies[next % policies.size()]));
        swaps += report.outcome == SwapOutcome::Active;
        std::this_thread::sleep_for(200us);
      }
    });
    std::jthread looking([&] {
      while (!stop) {
        (void)engine.preview();
        (void)engine.seconds_spent();
        std::this_thread::sleep_for(1ms);
      }
    });
    work();
    stop = true;
  }
  return swaps;
}

void check_journal(const Folder& folder, int iterations) {
  const auto replayed = replay_run(folder.path());
  if (!replayed) FAIL(replayed.error().text());
  if (replayed->first) {
    FAIL(replayed->first->place << ' ' << replayed->first->kind << ' ' << replayed->first->member << ": "
                                << replayed->first->recorded << " / " << replayed->first->replayed);
  }
  CHECK(replayed->iterations == iterations);
  const auto audited = audit_run(folder.path());
  if (!audited) FAIL(audited.error().text());
  CHECK(audited->good());
  CHECK(audited->audited > 0);
}

}  // namespace

TEST_CASE("beside: a turn that is taken back was never there") {
  GroupLog log, plain;  // one of them takes each turn twice, and the first back
  log.rollouts.resize(2);
  plain.rollouts.resize(2);
  for (int i = 0; i < 40; ++i) {
    const int sample = i % 2;
    Turn turn = plain_turn();
    turn.action = fmt::format("go {}", i % 7);
    turn.observation = fmt::format("door {}", i % 5);
    turn.logprob = -0.1 * i;  // sums of these depend on their order, and are not what they were after − and +
    turn.entropy = 0.3 * i;
    turn.calls = i % 3;
    turn.valid = i % 4 != 0;
    Turn other = turn;
    other.action = fmt::format("elsewhere {}", i);
    other.observation = other.action;
    other.logprob = 1e9;
    other.last = true;
    const GroupLog::Mark before = log.mark(sample);
    log.append(sample, other, true, true);
    log.go_back(sample, before);
    log.append(sample, turn, true, true);
    plain.append(sample, turn, true, true);
  }
  for (std::size_t sample = 0; sample < 2; ++sample) {
    const RolloutLog& is = log.rollouts[sample];
    const RolloutLog& should = plain.rollouts[sample];
    CHECK(is.actions == should.actions);
    CHECK(is.observations == should.observations);
    CHECK(is.tokens == should.tokens);
    CHECK(is.calls == should.calls);
    CHECK(is.invalid == should.invalid);
    CHECK(is.logprob == should.logprob);
    CHECK(is.entropy == should.entropy);
    CHECK(is.last_turn == should.last_turn);
    CHECK(is.each_turn.size() == should.each_turn.size());
  }
  CHECK(log.actions.size() == plain.actions.size());
}

TEST_CASE("beside: while one group is asked, others take turns, are asked and end rollouts") {
  const char* const text = "policy waits\non every turn of group g { when g.tokens > 1000 tokens then stop\n otherwise continue }\n";
  const auto plain = policy_of(text);
  std::promise<void> asked, go_on;
  auto program = std::make_shared<const lang::Program>(plain->program());
  auto inner = compiler::evaluate(*program);
  const auto policy = std::make_shared<Policy>(program, plain->parameters(),
                                               std::make_unique<Waiting>(std::move(inner), asked, go_on.get_future().share()));
  auto made = LiveEngine::create(settings(2, 2), policy);
  REQUIRE(made);
  Engine& engine = **made;
  REQUIRE(engine.begin_iteration(0, prompts(2)));
  std::thread slow([&] {
    (void)engine.turn({0, 0}, plain_turn());
    (void)engine.turn({0, 1}, plain_turn());  // asks
  });
  asked.get_future().wait();
  CHECK(ends([&] {
    for (int turn = 0; turn < 3; ++turn) {
      for (const int sample : {0, 1}) (void)engine.turn({1, sample}, plain_turn());
    }
    (void)engine.ended({1, 0}, {Status::Completed, 1.0, std::nullopt, "", ""});
  }));
  go_on.set_value();
  slow.join();
  for (const RolloutRef ref : {RolloutRef{0, 0}, RolloutRef{0, 1}, RolloutRef{1, 1}}) {
    REQUIRE(engine.ended(ref, {Status::Completed, 0.0, std::nullopt, "", ""}));
  }
  const auto report = engine.end_iteration();
  REQUIRE(report);
  CHECK(report->metrics.at("policy/decisions") == 1 + 3);  // one a turn of either group
  CHECK(report->metrics.at("turns") == 2 + 6);
  CHECK(report->metrics.at("tokens") == 2 * (2 + 6));
}

TEST_CASE("beside: no turn waits for a swap that concerns groups yet to be opened") {
  Settings made = settings(1, 2);
  made.keep_events = false;  // what is written of turns has to wait for what is written of the swap
  const auto engine = engine_of("policy before\non finish of group g { train }\n", made);
  REQUIRE(engine->begin_iteration(0, prompts(1)));
  bool passed = false;
  engine->record_to([&](const std::string& record) {
    if (record.find("\"swap\"") == std::string::npos) return;
    passed = ends([&] {
      for (const int sample : {0, 1}) (void)engine->turn({0, sample}, plain_turn());
    });
  });
  const SwapReport report = engine->swap(to(policy_of("policy after\non finish of group g { drop }\n")));
  CHECK(report.outcome == SwapOutcome::Active);
  CHECK(passed);
}

TEST_CASE("beside: every turn is asked about by any number of clients, with swaps: the same verdicts, and a journal that plays again") {
  // Two texts that decide the same, so that it does not matter which of them a group meets. Each kind of turn point has a
  // say; entropies depend on the order in which actions came, which a question that leads nowhere must not change.
  const std::string text = R"(policy clients
hit when reward >= 0.75
state seen: int per group = 0
state unlike: real per group = 0
refill at most 5 rounds then train_partial
on size of batch b { start 4 each, up to 6 }
on every turn of group g {
  remember seen = seen + 1
  remember unlike = unlike + (entropy(actions_at(g.actions, g.turn), nats) ?? 0)
  when seen >= 3 and unlike < 0.1 then stop, drop, refill because "alike: {unlike} after {seen}"
  otherwise continue
}
on every turn of rollout r {
  when r.turns >= 4 and draw("cut") < 0.3 then stop
  otherwise continue
}
on wave 1 of group g {
  when g.hits == 1 then complete to 6
  otherwise stop
}
on finish of group g {
  when (g.reward_mean ?? 0) < 0.36 then drop, refill because "mean {g.reward_mean ?? 0} after {seen}: {unlike}"
  otherwise train
}
)";
  const std::vector<std::shared_ptr<Policy>> versions = {loaded(text), loaded(text + "# the same\n"), loaded(text + "# and again\n")};
  constexpr int iterations = 3;
  std::vector<std::map<std::string, std::string>> alone;
  std::vector<std::map<std::string, double>> metrics_alone;
  int swaps = 0;
  for (const int threads : {1, 2, 4, 8}) {
    INFO(threads << " threads");
    const Folder folder;
    Settings made = settings(8, 4);
    made.run_folder = folder.path();
    made.native = false;
    auto engine = LiveEngine::create(made, versions[0]);
    REQUIRE(engine);
    std::vector<std::map<std::string, std::string>> verdicts;
    std::vector<std::map<std::string, double>> metrics;
    const auto play = [&] {
      for (int iteration = 0; iteration < iterations; ++iteration) {
        const Outcome outcome = drive(**engine, threads, 6, prompts(48), iteration);
        CHECK(outcome.batches_closed == 1);
        verdicts.push_back(outcome.verdicts());
        CHECK((*engine)->ledger().conservation().holds());
        auto report = (*engine)->end_iteration();
        REQUIRE(report);
        std::erase_if(report->metrics, [](const auto& each) {
          return each.first.starts_with("version/") || each.first.starts_with("rule/") || each.first == "policy/version";
        });
        metrics.push_back(report->metrics);
      }
    };
    if (threads == 1) {
      play();
      alone = verdicts;
      metrics_alone = metrics;
      CHECK(alone[0].size() > 16);
      CHECK(metrics_alone[0].at("rollouts/stopped") > 4);
    } else {
      swaps += disturb(**engine, versions, play);
    }
    CHECK(verdicts == alone);
    CHECK(metrics == metrics_alone);
    engine->reset();
    check_journal(folder, iterations);
  }
  CHECK(swaps > 3);
}

TEST_CASE("beside: events for groups that open just then find them whole or not at all") {
  const auto engine = engine_of("policy early\nrefill at most 40 rounds then train_partial\non finish of group g { drop, refill }\n", settings(4, 2));
  auto orders = engine->begin_iteration(0, prompts(4 * 40));
  REQUIRE(orders);
  std::vector<bench::Client> clients(4, bench::Client(*engine, 3));
  for (bench::Client& client : clients) client.deaf = true;
  for (std::size_t slot = 0; slot < orders->start.size(); ++slot) {
    Orders own;
    own.start = {orders->start[slot]};
    clients[slot].take(own);
  }
  // Guesses numbers, and drives what it is told to start: a group that closes by its event is refilled by it.
  bench::Client early(*engine, 3);
  early.deaf = true;
  std::atomic<bool> stop = false;
  std::jthread guessing([&] {
    for (int number = 0; !stop; number = (number + 1) % (4 * 40)) {
      if (auto told = engine->turn({number, number % 2}, plain_turn())) early.take(*told);
    }
  });
  {
    std::vector<std::jthread> running;
    for (bench::Client& client : clients) running.emplace_back([&client] { client.run(); });
  }
  stop = true;
  guessing.join();
  early.run();
  for (const bench::Client& client : clients) CHECK(client.failed.empty());
  CHECK(early.failed.empty());
  const auto report = engine->end_iteration();
  REQUIRE(report);
  CHECK(report->metrics.at("groups/opened") == 4 * 40);
  CHECK(engine->ledger().conservation().holds());
  CHECK(engine->ledger().conservation().in_flight == 0);
}

TEST_CASE("beside: a budget that runs out under many clients is never overdrawn, and the journal plays again") {
  const std::string text = R"(policy spending
budget 1500 tokens per iteration, carry over
budget 120 rollouts per run
refill at most 4 rounds then train_partial
on every turn of rollout r {
  when r.turns >= 5 and draw("cut") < 0.2 then stop
  otherwise continue
}
on finish of group g {
  when (g.reward_mean ?? 0) < 0.5 then drop, refill
  otherwise train
}
)";
  const std::string silent = "policy spending\nbudget 1500 tokens per iteration, carry over\nrefill at most 4 rounds then train_partial\n"
                             "on finish of group g {\n when (g.reward_mean ?? 0) < 0.5 then drop, refill\n otherwise train\n}\n";
  for (const std::string& each : {text, silent}) {
    const std::vector<std::shared_ptr<Policy>> versions = {loaded(each), loaded(each + "# again\n")};
    double stopped = 0;
    for (const auto share : {bench::Share::Groups, bench::Share::Rollouts}) {
      const Folder folder;
      Settings made = settings(8, 4);
      made.run_folder = folder.path();
      made.native = false;
      made.tokens_per_turn = 5;
      auto engine = LiveEngine::create(made, versions[0]);
      REQUIRE(engine);
      constexpr int iterations = 2;
      disturb(**engine, versions, [&] {
        for (int iteration = 0; iteration < iterations; ++iteration) {
          const Outcome outcome = drive(**engine, 8, 40, prompts(48), iteration, share);
          CHECK(outcome.batches_closed == 1);
          const Ledger& ledger = (*engine)->ledger();
          CHECK(ledger.conservation().holds());
          CHECK(ledger.conservation().in_flight == 0);
          for (const Account& account : ledger.accounts()) {
            CHECK(account.reserved == 0);
            CHECK(account.spent <= account.total);
          }
          const auto report = (*engine)->end_iteration();
          REQUIRE(report);
          stopped += report->metrics.at("budget/stopped");
          CHECK(report->metrics.at("budget/overruns") == 0);
          CHECK(report->metrics.at("budget/tokens/iteration/spent") == report->metrics.at("tokens"));
        }
      });
      engine->reset();
      check_journal(folder, iterations);
    }
    CHECK(stopped > 4);
  }
}
