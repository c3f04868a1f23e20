// `on loss of token`: values, slopes, faults, and which hosts may ask.
#include "runtime/engine/token_loss.h"

#include <cmath>
#include <sstream>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/engine/auditing.h"
#include "runtime/engine/checked_line.h"
#include "runtime/engine/replaying.h"
#include "runtime/engine/story.h"
#include "tests/engine/bench.h"
#include "tests/engine/folder.h"

using namespace allot;
using namespace allot::engine;
using bench::Course;
using bench::Driver;
using bench::engine_of;
using bench::policy_of;
using bench::prompts;
using bench::settings;
using bench::steady;

namespace {

TokenLoss loss_of(const std::string& body) {
  const auto policy = policy_of("policy p\nparam cut: real = 0.25\nfn soft(x: real) -> real = tanh(x) * x\n"
                                "on loss of token t {\n" + body + "\n}\n");
  return {policy, 0, StateStore(policy->program()), 3, 1};
}

struct Tokens {
  std::vector<double> logprob, old_logprob, reference, advantage;
  LossTokens view() const { return {logprob, old_logprob, reference, advantage}; }
};

// Away from the kinks of the losses below.
Tokens some() {
  Tokens tokens;
  for (const double logprob : {-3.1, -1.3, -0.7, -0.05}) {
    for (const double old_logprob : {-2.9, -0.71}) {
      for (const double advantage : {-1.5, 0.4}) {
        tokens.logprob.push_back(logprob);
        tokens.old_logprob.push_back(old_logprob);
        tokens.reference.push_back(-1.1);
        tokens.advantage.push_back(advantage);
      }
    }
  }
  return tokens;
}

const std::string ratio = "let ratio = exp(t.logprob - t.old_logprob)\n";

}  // namespace

// The derivative by its definition: central differences, whose error is of order h² of the third derivative.
TEST_CASE("the slope of a loss is its derivative in t.logprob") {
  for (const std::string& loss : {
           std::string("set loss = -t.advantage * t.logprob"),
           ratio + "set loss = -min(ratio * t.advantage, clamp(ratio, 1 - cut, 1 + cut) * t.advantage)",
           ratio + "when t.advantage < 0 then set loss = ratio * ratio\notherwise set loss = ratio / (1 + ratio)",
           std::string("set loss = abs(t.logprob + 1) + sqrt(-t.logprob) - log(-t.logprob) / 3"),
           std::string("set loss = pow(-t.logprob, 1.5) + pow(-t.logprob, -2) + soft(t.logprob * 0.5)"),
           std::string("let gap = t.logprob - (t.reference_logprob ?? t.logprob)\nset loss = exp(-gap) + gap - 1"),
           std::string("set loss = if t.logprob < -1 then 2 * t.logprob else tanh(t.logprob) / t.old_logprob"),
           std::string("set loss = max(t.logprob, 2 * t.logprob + 1, -0.5) - -t.logprob"),
           std::string("let a = t.logprob * t.logprob\nlet b = a * a - a\nset loss = b / a + a / b"),
           std::string("set loss = within(t.logprob, -10, 0) * detach(t.advantage)"),
       }) {
    const TokenLoss asked = loss_of(loss);
    const Tokens tokens = some();
    const TokenLosses at = asked.ask(tokens.view());
    constexpr double h = 1e-5;
    Tokens above = tokens;
    Tokens below = tokens;
    for (double& each : above.logprob) each += h;
    for (double& each : below.logprob) each -= h;
    const TokenLosses up = asked.ask(above.view());
    const TokenLosses down = asked.ask(below.view());
    for (std::size_t i = 0; i < tokens.logprob.size(); ++i) {
      INFO(loss << " at " << tokens.logprob[i] << ", " << tokens.old_logprob[i] << ", " << tokens.advantage[i]);
      REQUIRE(at.own[i] == 0);
      const double measured = (up.loss[i] - down.loss[i]) / (2 * h);
      CHECK(at.slope[i] == Approx(measured).epsilon(1e-6).margin(1e-8));
    }
  }
}

TEST_CASE("what is detached weighs and is not followed") {
  const TokenLosses losses = loss_of(ratio + "set loss = -detach(ratio) * t.advantage * t.logprob").ask(some().view());
  const Tokens tokens = some();
  for (std::size_t i = 0; i < tokens.logprob.size(); ++i) {
    const double weight = std::exp(tokens.logprob[i] - tokens.old_logprob[i]) * tokens.advantage[i];
    CHECK(losses.loss[i] == Approx(-weight * tokens.logprob[i]));
    CHECK(losses.slope[i] == Approx(-weight));
  }
}

// Each `let` is looked at once, however often it is read: 2^40 looks would not end.
TEST_CASE("lets of lets are followed in time") {
  std::string body = "let a0 = t.logprob\n";
  for (int i = 1; i <= 40; ++i) body += fmt::format("let a{} = (a{} + a{}) / 2\n", i, i - 1, i - 1);
  const Tokens one{{-1.0}, {-1.0}, {}, {2.0}};
  CHECK(loss_of(body + "set loss = a40").ask(one.view()).slope == std::vector{1.0});
}

TEST_CASE("where two slopes meet it is that of the first operand, and inside the range at its ends") {
  const Tokens one{{-1.0}, {-1.0}, {}, {2.0}};
  CHECK(loss_of("set loss = min(t.logprob, 3 * t.logprob + 2)").ask(one.view()).slope == std::vector{1.0});
  CHECK(loss_of("set loss = max(3 * t.logprob + 2, t.logprob)").ask(one.view()).slope == std::vector{3.0});
  CHECK(loss_of("set loss = clamp(t.logprob, -1, 0)").ask(one.view()).slope == std::vector{1.0});
  CHECK(loss_of("set loss = abs(t.logprob + 1)").ask(one.view()).slope == std::vector{0.0});
}

TEST_CASE("a token at which the loss faults, or no rule answers, is left to the trainer's own loss") {
  const TokenLoss faulty = loss_of("set loss = log(t.advantage) * t.logprob");
  const Tokens two{{-1.0, -1.0}, {-1.0, -1.0}, {}, {-2.0, 1.0}};
  CHECK(faulty.ask(two.view()).own == std::vector<std::uint8_t>{1, 0});
  const LossTally told = faulty.tally();
  CHECK((told.asked == 2 && told.faults == 1 && told.none == 0));
  CHECK(told.rules == std::vector<std::int64_t>{1});
  CHECK(told.first_fault.find("an argument outside its domain in `on loss of token t`") == 0);
  const TokenLoss silent = loss_of("when t.advantage > 0 then set loss = -t.logprob");
  CHECK(silent.ask(two.view()).own == std::vector<std::uint8_t>{1, 0});
  CHECK((silent.tally().faults == 0 && silent.tally().none == 1));
}

TEST_CASE("an engine gives the loss to hosts that can take it, with the run's state of this iteration") {
  const std::string text = R"(
policy scaled
state scale: real per run = 1
on loss of token t { set loss = -scale * t.advantage * t.logprob }
on update of batch b { remember scale = scale * 2 }
)";
  Settings with = settings(2, 2);
  with.host.losses = true;
  auto engine = engine_of(text, with);
  Driver driver(*engine, [](const std::string&, int sample) { return steady(1, sample); });
  const Tokens one{{-1.0}, {-1.0}, {}, {1.0}};
  for (int iteration = 0; iteration < 3; ++iteration) {
    driver.generate(iteration, prompts(2));
    const auto loss = engine->token_loss();
    REQUIRE(loss != nullptr);
    CHECK(loss->ask(one.view()).slope == std::vector{-std::pow(2.0, iteration)});
    const auto report = engine->end_iteration();
    REQUIRE(report);
    CHECK(report->metrics.at("loss/tokens") == 1);
    CHECK(report->metrics.at("loss/faults") == 0);
  }
  // A run under such a policy plays again: the host can still take the loss, and the journal says how it was used.
  const bench::Folder folder;
  Settings kept = with;
  kept.run_folder = folder.path();
  {
    auto journaled = engine_of(text, kept);
    Driver again(*journaled, [](const std::string&, int sample) { return steady(1, sample); });
    again.generate(0, prompts(2));
    REQUIRE(journaled->token_loss() != nullptr);
    journaled->token_loss()->ask(one.view());
    REQUIRE(journaled->end_iteration());
  }
  const auto replayed = replay_run(folder.path());
  REQUIRE(replayed);
  CHECK(replayed->iterations == 1);
  CHECK(replayed->differing == 0);
  const auto audited = audit_run(folder.path());
  REQUIRE(audited);
  CHECK(audited->good());
  CHECK((audited->loss_tokens == 1 && audited->loss_iterations == 1));
  Settings shadow = with;
  shadow.shadow = true;
  auto silent = engine_of(text, shadow);
  REQUIRE(silent->begin_iteration(0, prompts(2)));
  CHECK(silent->token_loss() == nullptr);
  const auto refused = LiveEngine::create(settings(2, 2), policy_of(text));
  REQUIRE(!refused);
  CHECK(refused.error().what.find("sets the loss of tokens, which this host cannot do") != std::string::npos);
}

TEST_CASE("there is no loss between two iterations, and that of an iteration that is undone goes with it") {
  Settings with = settings(2, 2);
  with.host.losses = true;
  auto engine = engine_of("policy plain\non loss of token t { set loss = -t.logprob }\non finish of group g { train }\n", with);
  const auto play = [&](int iteration) {
    Driver driver(*engine, [](const std::string&, int sample) { return steady(1, sample); });
    driver.generate(iteration, prompts(2));
    return engine->token_loss();
  };
  const Tokens one{{-1.0}, {-1.0}, {}, {1.0}};
  CHECK(engine->token_loss() == nullptr);
  REQUIRE(play(0) != nullptr);
  REQUIRE(engine->end_iteration());
  CHECK(engine->token_loss() == nullptr);
  const std::string state = engine->save_state();
  play(1)->ask(one.view());
  REQUIRE(engine->restore(state));
  play(1)->ask(one.view());
  const auto report = engine->end_iteration();
  REQUIRE(report);
  CHECK(report->metrics.at("loss/tokens") == 1);
}

TEST_CASE("what was asked of a loss elsewhere is added to its tally, where it is the same loss") {
  const TokenLoss loss = loss_of("when t.advantage > 0 then set loss = -t.logprob\nwhen t.advantage < 0 then set loss = t.logprob");
  const Tokens two{{-1.0, -1.0}, {-1.0, -1.0}, {}, {-2.0, 0.0}};
  loss.ask(two.view());
  REQUIRE(loss.add({0, 6, {1, 2}, 1, 2, "elsewhere"}));
  const LossTally told = loss.tally();
  CHECK((told.asked == 8 && told.none == 2 && told.faults == 2));
  CHECK(told.rules == std::vector<std::int64_t>{1, 3});
  CHECK(told.first_fault == "elsewhere");
  CHECK_FALSE(loss.add({1, 1, {1, 0}, 0, 0, ""}));
  CHECK_FALSE(loss.add({0, 1, {1}, 0, 0, ""}));
  CHECK(loss.tally().asked == 8);
}

TEST_CASE("the journal counts what rules said of tokens, with the first fault; audit, replay and log tell of it") {
  const std::string text = R"(
policy parts
on loss of token t {
  when t.advantage > 2 then set loss = log(-t.advantage) * t.logprob
  when t.advantage > 0 then set loss = -t.logprob
  when t.advantage < -1 then set loss = t.logprob
}
on finish of group g { train }
)";
  const bench::Folder folder;
  Settings kept = settings(2, 2);
  kept.host.losses = true;
  kept.run_folder = folder.path();
  {
    auto engine = engine_of(text, kept);
    Driver driver(*engine, [](const std::string&, int sample) { return steady(1, sample); });
    for (int iteration = 0; iteration < 3; ++iteration) {
      driver.generate(iteration, prompts(2));
      const auto loss = engine->token_loss();
      REQUIRE(loss != nullptr);
      // By the rules above: a fault, rule 1 twice, rule 2 once, none once; in two batches.
      loss->ask(Tokens{{-1, -1, -1}, {-1, -1, -1}, {}, {3, 1, 2}}.view());
      loss->ask(Tokens{{-1, -1}, {-1, -1}, {}, {-2, 0}}.view());
      REQUIRE(engine->end_iteration());
    }
  }
  const auto audited = audit_run(folder.path());
  REQUIRE(audited);
  CHECK(audited->good());
  CHECK((audited->loss_tokens == 15 && audited->loss_iterations == 3));
  const auto replayed = replay_run(folder.path());
  REQUIRE(replayed);
  if (replayed->first) FAIL(replayed->first->place << ' ' << replayed->first->recorded << " / " << replayed->first->replayed);
  CHECK(replayed->iterations == 3);
  const auto told = tell_run(folder.path(), StoryFormat::Words);
  REQUIRE(told);
  CHECK(told->find("the loss of 5 tokens: rules answered 0, 2, 1, none 1, faults 1, the first: an argument outside") != std::string::npos);
  CHECK(told->find("[version 0 (") != std::string::npos);
  // Counts that do not add up are found, also where the line's own checksum was made anew.
  std::istringstream lines(bench::read_file(folder.segment(1)));
  std::string changed;
  for (std::string line; std::getline(lines, line);) {
    auto record = nlohmann::ordered_json::parse(line);
    if (record.at("k") == "loss" && record.at("it") == 1) {
      record["rules"][1] = 3;
      record.erase("crc");
      line = seal(dump(record));
    }
    changed += line + "\n";
  }
  bench::write_file(folder.segment(1), changed);
  const auto flipped = audit_run(folder.path());
  REQUIRE(flipped);
  CHECK(flipped->differing == 1);
  REQUIRE(flipped->first);
  CHECK((flipped->first->iteration == 1 && flipped->first->member == "asked" && flipped->first->recorded == "5"));
  CHECK(flipped->first->again == "6, the sum over its rules");
  CHECK_FALSE(flipped->damage.empty());
}
