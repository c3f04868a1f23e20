// `on loss of token` through clients: the numbers, and what the journal tells of them, are those of an engine that is
// asked in its own process.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "runtime/remote/client.h"
#include "runtime/remote/server.h"
#include "tests/engine/swapping.h"
#include "tests/folder.h"
#include "tests/remote/calling.h"

using namespace allot;
using namespace allot::remote;
using allot::test::Folder;
using engine::Settings;
using engine::TokenLosses;
using engine::bench::Driver;
using engine::bench::prompts;
using engine::swapping::engine_of;
using namespace remote::test::calling;

namespace {

// A rule that faults, two that answer, and tokens of which no rule speaks; a parameter, and a state that every barrier
// writes.
const char* const scaled = R"(
policy scaled
param cut: real = 0.25
state scale: real per run = 1
on loss of token t {
  when t.advantage > 2 then set loss = log(-t.advantage) * t.logprob
  when t.advantage > 0 then set loss = -scale * min(exp(t.logprob - t.old_logprob), 1 + cut) * t.advantage
  when t.advantage < -1 then set loss = scale * t.logprob * t.advantage
}
on finish of group g { train }
on update of batch b { remember scale = scale * 3 }
)";

Settings with_losses() {
  Settings settings = engine::bench::settings(2, 2);
  settings.host.losses = true;
  return settings;
}

// Tokens with these advantages; their other numbers have no short decimals.
struct Tokens {
  std::vector<double> logprob, old_logprob, advantage;
  explicit Tokens(std::vector<double> advantages) : advantage(std::move(advantages)) {
    for (std::size_t i = 0; i < advantage.size(); ++i) {
      logprob.push_back(-1.0 / (3.0 + static_cast<double>(i)));
      old_logprob.push_back(-1.0 / (2.7 + static_cast<double>(i)));
    }
  }
  engine::LossTokens view() const { return {logprob, old_logprob, {}, advantage}; }
};

engine::bench::Course course(const std::string&, int sample) {
  return engine::bench::steady(1, sample);
}

struct Left {
  std::vector<TokenLosses> losses;
  std::string files;  // journal and state
};

// Plays three iterations; `ask` asks about the tokens of one, by the engine or by clients of it.
using Served = std::filesystem::path;
using Asks = std::function<void(engine::Engine& engine, const Served& served, std::vector<TokenLosses>& losses)>;
Left left_by(const Asks& ask) {
  const engine::bench::Folder folder;
  Settings kept = with_losses();
  kept.run_folder = folder.path();
  Left left;
  {
    const auto own = engine_of(scaled, kept, {{"cut", "0.5"}});
    const auto server = must(Server::open(*own, folder.path()));
    const auto leader = client_of(folder.path());
    Driver driver(*leader, course);
    for (int iteration = 0; iteration < 3; ++iteration) {
      driver.generate(iteration, prompts(2));
      ask(*own, folder.path(), left.losses);
      must(leader->end_iteration());
    }
  }
  left.files = engine::bench::read_file(folder.segment(1)) + engine::bench::read_file(folder.path() / "state.json");
  return left;
}

bool same(const TokenLosses& a, const TokenLosses& b) {
  return a.loss == b.loss && a.slope == b.slope && a.own == b.own;
}

}  // namespace

TEST_CASE("a loss that clients ask is that of the engine's own process, and so is what the journal tells of it") {
  const Tokens first({3, 1, 2}), second({-2, 0});
  const Left alone = left_by([&](engine::Engine& engine, const Served&, std::vector<TokenLosses>& losses) {
    const auto loss = engine.token_loss();
    REQUIRE(loss != nullptr);
    for (const Tokens* const tokens : {&first, &second}) losses.push_back(loss->ask(tokens->view()));
  });
  REQUIRE(alone.losses.size() == 6);
  // By the rules above, of tokens 3, 1, 2 and -2, 0: a fault, the second rule twice, the third, none.
  CHECK(alone.losses[0].own == std::vector<std::uint8_t>{1, 0, 0});
  CHECK(alone.losses[1].own == std::vector<std::uint8_t>{0, 1});
  CHECK(alone.losses[3].slope[0] == Approx(3 * alone.losses[1].slope[0]));  // of the next iteration
  CHECK(alone.files.find(R"("asked":5,"rules":[0,2,1],"none":1,"faults":1)") != std::string::npos);
  const Left by_one = left_by([&](engine::Engine&, const Served& served, std::vector<TokenLosses>& losses) {
    const auto client = client_of(served);
    const auto loss = client->token_loss();
    REQUIRE(loss != nullptr);
    for (const Tokens* const tokens : {&first, &second}) losses.push_back(loss->ask(tokens->view()));
    CHECK(loss->tally().asked == 5);
    CHECK(client->counts().defaults == 0);
  });
  const Left by_two = left_by([&](engine::Engine& engine, const Served& served, std::vector<TokenLosses>& losses) {
    const auto client = client_of(served);  // beside the engine's own process
    losses.push_back(client->token_loss()->ask(first.view()));
    losses.push_back(engine.token_loss()->ask(second.view()));
  });
  for (const Left* const left : {&by_one, &by_two}) {
    REQUIRE(left->losses.size() == alone.losses.size());
    for (std::size_t i = 0; i < alone.losses.size(); ++i) CHECK(same(left->losses[i], alone.losses[i]));
    CHECK(left->files == alone.files);
  }
}

TEST_CASE("a client makes the policy of the loss once for each version, and the loss once for each iteration") {
  const Folder folder;
  const auto own = engine_of(scaled, with_losses());
  const auto server = must(Server::open(*own, folder.path()));
  const auto client = client_of(folder.path());
  Driver driver(*client, course);
  std::vector<std::shared_ptr<const engine::TokenLoss>> losses;
  const auto play = [&](int iteration) {
    driver.generate(iteration, prompts(2));
    losses.push_back(client->token_loss());
    REQUIRE(losses.back() != nullptr);
    CHECK(client->token_loss() == losses.back());
    must(client->end_iteration());
    CHECK(client->token_loss() == nullptr);
  };
  play(0);
  play(1);
  CHECK(losses[1] != losses[0]);
  CHECK(losses[1]->policy() == losses[0]->policy());
  engine::SwapRequest request = engine::swapping::request_of(scaled);
  request.parameters = {{"cut", "0.75"}};
  REQUIRE(client->swap(request).outcome == engine::SwapOutcome::Active);
  play(2);
  CHECK(losses[2]->policy()->given() == request.parameters);
  CHECK(losses[2]->policy()->program().hash == losses[0]->policy()->program().hash);
  request.text.text += "# another text\n";
  REQUIRE(client->swap(request).outcome == engine::SwapOutcome::Active);
  play(3);
  CHECK(losses[3]->policy()->program().hash == client->policy_hash());
  CHECK(losses[3]->policy()->program().hash != losses[0]->policy()->program().hash);
}

TEST_CASE("there is no loss without a handler, in shadow, and of a policy without a text") {
  const auto ask = [](engine::Engine& engine) {
    const Folder folder;
    const auto server = must(Server::open(engine, folder.path()));
    const auto client = client_of(folder.path());
    must(client->begin_iteration(0, prompts(2)));
    return client->token_loss();
  };
  const auto plain = engine_of("policy p\non finish of group g { train }\n", with_losses());
  CHECK(ask(*plain) == nullptr);
  Settings shadow = with_losses();
  shadow.shadow = true;
  const auto silent = engine_of(scaled, shadow);
  CHECK(ask(*silent) == nullptr);
  const auto in_memory = engine::bench::engine_of(scaled, with_losses());
  CHECK_THROWS_WITH(ask(*in_memory), Catch::Contains("put together in memory"));
}

TEST_CASE("what is asked too late is told, and an engine that is away keeps nobody from the loss") {
  const Folder folder;
  const auto own = engine_of(scaled, with_losses());
  auto server = must(Server::open(*own, folder.path()));
  const auto client = client_of(folder.path(), 0.3);
  const Tokens tokens({1, -2, 0});
  Driver driver(*client, course);
  driver.generate(0, prompts(2));
  const auto first = client->token_loss();
  REQUIRE(first != nullptr);
  first->ask(tokens.view());
  CHECK(must(client->end_iteration()).metrics.at("loss/tokens") == 3);
  CHECK_THROWS_WITH(first->ask(tokens.view()), Catch::Contains("after iteration 0 had ended"));
  driver.generate(1, prompts(2));
  CHECK_THROWS_AS(first->ask(tokens.view()), Unanswered);  // of the one before
  const auto second = client->token_loss();
  REQUIRE(second != nullptr);
  const TokenLosses there = second->ask(tokens.view());
  server.reset();
  const auto began = Clock::now();
  CHECK(same(second->ask(tokens.view()), there));
  CHECK(seconds_since(began) < 1);
  CHECK(client->counts().defaults == 1);
  CHECK(must(own->end_iteration()).metrics.at("loss/tokens") == 3);
  client->close();
  CHECK_THROWS_AS(second->ask(tokens.view()), Unanswered);
}

// An iteration that is begun anew has the number of the first, and may have another policy.
TEST_CASE("what was asked of a loss from before the engine went back is told, and not counted") {
  const Folder folder;
  const auto own = engine_of(scaled, with_losses());
  const auto server = must(Server::open(*own, folder.path()));
  const auto leader = client_of(folder.path()), worker = client_of(folder.path());
  const Tokens tokens({1, -2, 0});
  const std::string start = leader->save_state();
  must(leader->begin_iteration(0, prompts(2)));
  const auto before = worker->token_loss();
  REQUIRE(before != nullptr);
  const TokenLosses first = before->ask(tokens.view());
  REQUIRE(leader->restore(start));
  const bool swaps = GENERATE(false, true);
  if (swaps) {
    engine::SwapRequest request = engine::swapping::request_of(scaled);
    request.parameters = {{"cut", "0.75"}};
    REQUIRE(leader->swap(request).outcome == engine::SwapOutcome::Active);
  }
  Driver driver(*leader, course);
  driver.generate(0, prompts(2));
  CHECK_THROWS_WITH(before->ask(tokens.view()), Catch::Contains("begun anew"));
  const auto after = worker->token_loss();
  REQUIRE(after != nullptr);
  CHECK(after != before);
  CHECK(same(after->ask(tokens.view()), first));  // their ratios lie below both cuts
  CHECK(must(leader->end_iteration()).metrics.at("loss/tokens") == 3);  // of one ask
}
