// What cannot be read, or is too long to travel: whoever asked is told, and nobody is worn out by it.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/remote/client.h"
#include "runtime/remote/line.h"
#include "runtime/remote/server.h"
#include "tests/engine/bench.h"
#include "tests/folder.h"
#include "tests/remote/calling.h"
#include "tests/remote/forwarding.h"
#include "tests/remote/impostor.h"
#include "tests/remote/stranger.h"

using namespace allot;
using namespace allot::remote;
using allot::test::Folder;
using engine::RolloutRef;
using engine::bench::engine_of;
using engine::bench::settings;
using remote::test::Impostor;
using namespace remote::test::calling;

namespace {

std::uint64_t number_of(std::string_view request) {
  return nlohmann::ordered_json::parse(request).value("q", std::uint64_t{0});
}

std::string answer_to(std::string_view request, const std::string& rest) {
  const std::uint64_t number = number_of(request);
  return fmt::format(R"({{"m":{},"q":{},"orders":{{"stop":[[0,1]]}}{}}})", number, number, rest);
}

// How often a client may knock that waits after its second connection 0.05 s, then twice as long each time.
int most_connections(double seconds) {
  int most = 2;
  double at = 0;
  for (double pause = 0.05; at + pause <= seconds; pause = std::min(2 * pause, 2.0)) {
    at += pause;
    ++most;
  }
  return most;
}

}  // namespace

TEST_CASE("numbers of a report travel, whether they are finite or not") {
  constexpr double endless = std::numeric_limits<double>::infinity();
  Answer answer;
  answer.serial = 1;
  answer.report = engine::IterationReport();
  answer.report->metrics = {{"none", std::nan("")}, {"more", endless}, {"less", -endless}, {"third", 1.0 / 3}};
  const Answer again = read_answer(to_text(answer));
  CHECK_FALSE(again.error);
  REQUIRE(again.report);
  REQUIRE(again.report->metrics.size() == 4);
  CHECK(std::isnan(again.report->metrics.at("none")));
  CHECK(again.report->metrics.at("more") == endless);
  CHECK(again.report->metrics.at("less") == -endless);
  CHECK(again.report->metrics.at("third") == 1.0 / 3);
}

TEST_CASE("an answer of another form is an error with the orders that came with it; one without orders is no answer") {
  for (const char* const rest :
       {R"("report":7)", R"("report":{"iteration":1e99})", R"("shaped":[[null],[],[]])", R"("about":[])",
        R"("prompts":3)", R"("state":5)", R"("ticket":"a")", R"("swap":"x")", R"("loss":{})", R"("error":[])"}) {
    INFO(rest);
    const Answer answer = read_answer(fmt::format(R"({{"m":4,"q":3,"orders":{{"stop":[[2,1]]}},{}}})", rest));
    CHECK((answer.serial == 4 && answer.number == 3));
    CHECK(answer.orders.stop == std::vector<RolloutRef>{{2, 1}});
    REQUIRE(answer.error);
    CHECK(answer.error->what.find("has a form that this program does not know") != std::string::npos);
  }
  for (const char* const text :
       {"", "7", "{}", R"({"m":4})", R"({"m":-4,"orders":{}})", R"({"m":4,"orders":{"stop":7}})"})
    CHECK_THROWS_AS(read_answer(text), std::exception);
}

TEST_CASE("what a client cannot read of an answer fails that call, and no other") {
  const Folder folder;
  const Impostor engine(folder.path(), [](std::string_view request, int n) {
    return std::optional(answer_to(request, n == 0 ? R"(,"state":5)" : R"(,"state":"s")"));
  });
  const auto client = client_of(folder.path());
  CHECK_THROWS_WITH(client->save_state(), Catch::Contains("has a form that this program does not know"));
  CHECK(client->save_state() == "s");
  CHECK(must(client->orders(0)).stop == std::vector<RolloutRef>(2, {0, 1}));  // of both answers
  CHECK(engine.connections() == 1);
}

TEST_CASE("an engine that says nothing of use over any connection is met ever more seldom, whatever is asked") {
  const Folder folder;
  const bool closes = GENERATE(false, true);
  const Impostor engine(folder.path(), [=](std::string_view, int) {
    return closes ? std::optional<std::string>() : std::optional<std::string>(R"({"m":1})");
  });
  const auto began = Clock::now();
  const auto client = client_of(folder.path(), 0.2, 0.4);
  switch (GENERATE(0, 1, 2, 3)) {
    case 0:
      CHECK_FALSE(client->begin_iteration(0, {"p0"}));
      CHECK_FALSE(client->end_iteration());
      break;
    case 1:
      CHECK_THROWS_AS(client->save_state(), Unanswered);
      CHECK_THROWS_AS(client->policy_name(), Unanswered);
      break;
    case 2:
      while (seconds_since(began) < 0.5) {
        must(client->turn({0, 0}, look()));
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
      break;
    default:
      while (seconds_since(began) < 0.5) {
        must(client->drive({{0, 0}}));
        must(client->orders(0.01));
      }
  }
  CHECK(engine.connections() <= most_connections(seconds_since(began)));
  CHECK(engine.connections() >= 2);
}

TEST_CASE("a refusal holds for as long as the engine that speaks another version is there") {
  const Folder folder;
  const auto engine = engine_of("", settings(1, 2));
  auto server = must(Server::open(*engine, folder.path()));
  const auto client = client_of(folder.path(), 0.3);
  CHECK(client->policy_name().empty());
  server.reset();
  {
    const Impostor other(
        folder.path(), [](std::string_view, int) { return std::optional<std::string>(); },
        Error{"The engine speaks version 9.", ""});
    std::string told;
    REQUIRE(within(5, [&] {
      const auto orders = client->orders(0);
      if (!orders) told = orders.error().what;
      return !orders;
    }));
    CHECK(told == "The engine speaks version 9.");
  }
  server = must(Server::open(*engine, folder.path()));
  REQUIRE(within(5, [&] { return static_cast<bool>(client->orders(0)) && client->reached(); }));
  CHECK(client->orders(0));
  CHECK(client->counts().restarts == 1);
}

TEST_CASE("a call that is too long for the socket is an error at once, and costs nothing else") {
  const Folder folder;
  const auto engine = engine_of("", settings(1, 2));
  const auto server = must(Server::open(*engine, folder.path()));
  Line::Settings short_ones;
  short_ones.longest = 100;
  Line line(folder.path() / "engine.sock", short_ones);
  const auto restore = [&](std::size_t bytes) {
    const std::string state(bytes, 's');
    const auto put = [&](engine::JsonText& text) { text.member("state", state); };
    return line.ask(Ask::Restore, put, Line::Seconds(5), false);
  };
  const auto refused = restore(100);  // with its name it takes more
  REQUIRE((refused && refused->error));
  CHECK(refused->error->what.find("The call `restore` takes ") == 0);
  CHECK(refused->error->what.find("at most 100 travel") != std::string::npos);
  CHECK(line.waiting() == 0);
  const auto answered = restore(20);
  REQUIRE((answered && answered->error));  // by the engine: that is no state
  CHECK(answered->error->what.find("travel") == std::string::npos);
  CHECK(server->counts().connections == 1);
}

TEST_CASE("an answer that is too long for the socket is an error in its place") {
  const Folder folder;
  const auto engine = engine_of("", settings(1, 2));
  ServerSettings short_ones;
  short_ones.longest_answer = 1000;
  const auto server = must(Server::open(*engine, folder.path(), short_ones));
  const auto client = client_of(folder.path());
  const auto begun = client->begin_iteration(0, {std::string(1000, 'p')});  // its order to start names the prompt
  REQUIRE_FALSE(begun);
  CHECK(begun.error().what.find("at most 1000 travel over the socket") != std::string::npos);
  CHECK(client->policy_name().empty());
  CHECK(server->counts().connections == 1);
}

TEST_CASE("orders beside an answer that is too long for the socket come with the error") {
  class Wide final : public remote::test::Forwarding {
   public:
    using Forwarding::Forwarding;
    Result<engine::Shaped> shape(const engine::MicroBatch&) override {
      return engine::Shaped{std::vector<double>(1000, 0.5), {}, {}};
    }
  };
  const Folder folder;
  const auto engine = engine_of("", settings(1, 2));
  Wide wide(*engine);
  ServerSettings short_ones;
  short_ones.longest_answer = 2000;  // 1000 numbers take more, the orders of one group less
  const auto server = must(Server::open(wide, folder.path(), short_ones));
  remote::test::Stranger client(folder.path());
  client.greet("several events in one request");
  const auto say = [&](std::uint64_t number, Ask ask, const auto& put) {
    engine::JsonText text;
    begin_request(text, number, 0, ask);
    put(text);
    client.say(frame(text.end_object().take()));
    return read_answer(client.hear().value());
  };
  const std::vector<std::string> prompts = {"p0"};
  CHECK_FALSE(say(1, Ask::Begin, [&](auto& text) { text.member("it", 0).member("prompts", prompts); }).error);
  engine::EventLog log;
  for (const int sample : {0, 1}) log.ended({0, sample}, scored(sample), std::nullopt);
  log.shape({{{0, 0}, {0, 1}}, {0.5, -0.5}, {}, {}});
  const Answer answer = say(2, Ask::Events, [&](auto& text) { log.put(text); });
  REQUIRE(answer.error);
  CHECK(answer.error->what.find("at most 2000 travel over the socket") != std::string::npos);
  CHECK(answer.orders.batch_closed);
  CHECK(answer.orders.closed.size() == 1);
}

TEST_CASE("a client that is served on passes on that its engine does not answer") {
  const Folder folder;
  const auto nowhere = client_of(folder.path() / "nowhere.sock", 0.1, 0.1);
  const auto server = must(Server::open(*nowhere, folder.path() / "bridge.sock"));
  const auto client = client_of(folder.path() / "bridge.sock");
  CHECK_THROWS_WITH(client->policy_hash(), Catch::Contains("nowhere.sock"));
  CHECK_THROWS_WITH(client->save_state(), Catch::Contains("cannot be reached"));
  CHECK_FALSE(client->end_iteration());
  engine::SwapRequest swap;
  swap.text.text = "policy p\n";
  CHECK_THROWS_WITH(client->swap(swap), Catch::Contains("takes no swaps"));
  CHECK(server->counts().connections == 1);
}
