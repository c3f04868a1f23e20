// The bytes between client and server, and what comes of bytes that no client of ours sends.
#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "runtime/remote/frames.h"
#include "runtime/remote/messages.h"

using namespace allot;
using namespace allot::remote;
using engine::EventLog;
using engine::JsonText;

namespace {

void add(FrameReader& reader, const std::string& bytes) {
  reader.add(bytes.data(), bytes.size());
}

std::string request_of(const EventLog& log) {
  JsonText text;
  begin_request(text, 3, 2, Ask::Events);
  log.put(text);
  return text.end_object().take();
}

EventLog some_events() {
  EventLog log;
  engine::Turn turn;
  turn.action = "go \"north\" — now\n";
  turn.observation = "a door";
  turn.tokens = 7;
  turn.calls = 2;
  turn.logprob = -0.1;
  turn.entropy = 1.0 / 3;
  turn.last = true;
  log.turn({4, 5}, turn, true, std::nullopt);
  log.ended({4, 5}, {engine::Status::Timeout, std::numeric_limits<double>::quiet_NaN(), 0.1 + 0.2, "slow", "42"},
            std::nullopt);
  log.shape({{{4, 5}, {4, 6}}, {0.5, -0.25}, {1, 0, 0, 1}, {0.1, -1.0 / 3}});
  return log;
}

engine::LossTally some_tally() {
  return {1, 9, {4, 0, 2}, 2, 1, "a division by 0"};
}

std::string tally_request(const engine::LossTally& tally) {
  JsonText text;
  begin_request(text, 3, 2, Ask::Tally);
  put_request(text, "1-2", 7, tally);
  return text.end_object().take();
}

std::string swap_request(const engine::SwapRequest& swap) {
  JsonText text;
  begin_request(text, 3, 2, Ask::Swap);
  put_request(text, swap);
  return text.end_object().take();
}

}  // namespace

TEST_CASE("texts come out of any cuts of the stream as they went in") {
  const std::vector<std::string> texts = {"a", std::string(300, 'b'), "{}", std::string(70000, 'c')};
  std::string stream;
  for (const std::string& text : texts) stream += frame(text);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{4096}, stream.size()}) {
    FrameReader reader;
    std::vector<std::string> read;
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      add(reader, stream.substr(at, piece));
      while (const auto text = reader.next()) read.emplace_back(*text);
    }
    CHECK(read == texts);
    CHECK_FALSE(reader.broken());
  }
}

TEST_CASE("a length of nothing or above the limit breaks the stream, and no memory is taken for it") {
  FrameReader empty;
  add(empty, std::string(4, '\0'));
  CHECK(empty.broken());
  FrameReader large;
  add(large, "\xff\xff\xff\xff");
  CHECK(large.broken());
  CHECK_FALSE(large.next());
  FrameReader small(10);
  add(small, frame("0123456789"));
  CHECK_FALSE(small.broken());
  add(small, frame("0123456789a"));
  CHECK(small.next() == "0123456789");
  CHECK_FALSE(small.next());
  CHECK(small.broken());
}

TEST_CASE("events are read as they were written, to the last bit") {
  const Request request = read_request(request_of(some_events()));
  CHECK(request.number == 3);
  CHECK(request.seen == 2);
  REQUIRE(request.events.events.size() == 3);
  const engine::LoggedEvent& turn = request.events.events[0];
  CHECK(turn.rollout == engine::RolloutRef{4, 5});
  CHECK(turn.turn.action == "go \"north\" — now\n");
  CHECK(turn.turn.observation == "a door");
  CHECK(turn.turn.tokens == 7);
  CHECK(turn.turn.calls == 2);
  CHECK(turn.turn.logprob == -0.1);
  CHECK(turn.turn.entropy == 1.0 / 3);
  CHECK(turn.turn.last);
  const engine::Ending& ending = request.events.events[1].ending;
  CHECK(ending.status == engine::Status::Timeout);
  CHECK(std::isnan(*ending.reward));
  CHECK(*ending.raw_reward == 0.1 + 0.2);
  CHECK(ending.answer == "42");
  CHECK(request.events.events[2].batch.gram == std::vector<double>{1, 0, 0, 1});
  CHECK(request.events.events[2].batch.embeddings == std::vector<double>{0.1, -1.0 / 3});
}

TEST_CASE("tallies and requests for swaps are read as they were written") {
  const Request told = read_request(tally_request(some_tally()));
  CHECK(told.ask == Ask::Tally);
  CHECK(told.iteration == 7);
  CHECK(told.loss == "1-2");
  CHECK(told.tally.handler == 1);
  CHECK(told.tally.asked == 9);
  CHECK(told.tally.rules == std::vector<std::int64_t>{4, 0, 2});
  CHECK((told.tally.none == 2 && told.tally.faults == 1));
  CHECK(told.tally.first_fault == "a division by 0");
  engine::SwapRequest swap;
  swap.text.file = "gate.allot";
  swap.text.text = "policy \"gate\" — now\n";
  swap.text.used = {{"part", "gate.allot", {"part.allot", "key", "policy part\n"}}};
  swap.text.whole = true;
  swap.parameters = {{"least", "0.5"}};
  swap.expected = "v3";
  swap.now = true;
  swap.canary = 0.1;
  const Request asked = read_request(swap_request(swap));
  CHECK(asked.swap.text.text == swap.text.text);
  REQUIRE(asked.swap.text.used.size() == 1);
  CHECK(asked.swap.text.used[0].file.text == "policy part\n");
  CHECK((asked.swap.text.whole && asked.swap.now && asked.swap.confirmed && !asked.swap.back));
  CHECK(asked.swap.parameters == swap.parameters);
  CHECK((asked.swap.expected == "v3" && asked.swap.canary == 0.1));
  swap.back = engine::StateOf::Then;
  CHECK(read_request(swap_request(swap)).swap.back == engine::StateOf::Then);
}

TEST_CASE("answers are read as they were written") {
  Answer answer;
  answer.serial = 9;
  answer.number = 4;
  answer.orders.start = {{3, "p \"q\"", 0, 4}};
  answer.orders.stop = {{1, 2}, {1, 3}};
  answer.orders.hold = {{2, 0}};
  answer.orders.release = {{2, 1}};
  engine::GroupResult group;
  group.group = 1;
  group.prompt = "p";
  group.slot = 2;
  group.round = 3;
  group.fate = engine::Fate::Surplus;
  group.subset = {0, 2};
  group.normalize = engine::NormalizeOver::Group;
  group.flat = true;
  group.reason = "because";
  group.gate = {true, true, false, true};
  group.rewards = {0.1, std::nullopt};
  group.iterations = {5, 5};
  answer.orders.closed = {group};
  answer.orders.deferred = {7};
  answer.orders.batch_closed = true;
  answer.report = engine::IterationReport{4, 2, {1}, {0}, true, false, "m", {{"a", 1.0 / 3}}};
  answer.shaped = engine::Shaped{{1, 2}, {0.5}, {{1.5}, {}}};
  answer.about = About{"n", {1, "h", {{"least", "0.5"}}}, true, false, true, false, 3, 0, 0.25};
  answer.ticket = 5;
  answer.swap = engine::SwapReport();
  answer.swap->ticket = 5;
  answer.swap->outcome = engine::SwapOutcome::Canary;
  answer.swap->canary = 0.1;
  answer.swap->back = engine::StateOf::Now;
  const engine::StateCells states{{lang::Cell::of(1.0 / 3)}, {lang::Cell::undefined()}};
  answer.loss = LossParts{"1-2", "h", {{"least", "0.5"}}, "text", 2, 7, 3, states};
  answer.prompts = {"x"};
  answer.state = "s";
  answer.error = Error{"what", "help"};
  const std::string text = to_text(answer);
  CHECK(to_text(read_answer(text)) == text);
  const Answer again = read_answer(text);
  CHECK(again.orders.closed[0].fate == engine::Fate::Surplus);
  CHECK(again.orders.closed[0].rewards == group.rewards);
  CHECK(again.report->metrics.at("a") == 1.0 / 3);
  CHECK(again.about->active.parameters == answer.about->active.parameters);
  CHECK((again.swap->outcome == engine::SwapOutcome::Canary && again.swap->canary == 0.1));
  CHECK(again.swap->back == engine::StateOf::Now);
  CHECK(again.loss->number == "1-2");
  CHECK(again.loss->states == answer.loss->states);
  CHECK((again.loss->handler == 2 && again.loss->iteration == 7 && again.loss->epoch == 3));
}

TEST_CASE("a request that no client sends is refused by an exception, whatever it is") {
  const std::string good = request_of(some_events());
  REQUIRE_NOTHROW(read_request(good));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
  };
  const std::vector<std::string> bad = {"",
                                        "null",
                                        "[]",
                                        "7",
                                        "{",
                                        std::string(1 << 20, '['),
                                        R"({"q":1})",
                                        R"({"q":0,"call":"end"})",
                                        R"({"q":-1,"call":"end"})",
                                        R"({"q":1.5,"call":"end"})",
                                        R"({"q":1,"call":"what"})",
                                        R"({"q":1,"call":"begin","it":1e99,"prompts":[]})",
                                        R"({"q":1,"call":"drive","rollouts":[[1]]})",
                                        R"({"q":1,"call":"drive","rollouts":{"a":1}})",
                                        with(R"("kinds":"Tem")", R"("kinds":"Tex")"),
                                        with(R"("kinds":"Tem")", R"("kinds":"TTem")"),
                                        with(R"("n":[7])", R"("n":[1e300])"),
                                        with(R"("n":[7])", R"("n":[-7])"),
                                        with(R"("n":[7])", R"("n":[4294967297])"),
                                        with(R"("n":[7])", R"("n":7)"),
                                        with(R"("a":[0])", R"("a":[9])"),
                                        with(R"("g":[4,4])", R"("g":[4])"),
                                        with(R"([[6,)", R"([[99,)"),
                                        with(R"([[6,)", R"([[-1,)"),
                                        with(R"("logprob":[-0.1])", R"("logprob":[null])"),
                                        with(R"("advantages":[0.5)", R"("advantages":[null)"),
                                        with(R"("embeddings":[0.1)", R"("embeddings":[null)"),
                                        with(R"("embeddings":[0.1)", R"("embeddings":[[])"),
                                        with(R"("gram":[1.0)", R"("gram":[true)"),
                                        with(R"("prompts":[])", R"("at":[1,2,3],"prompts":[])")};
  for (const std::string& text : bad) {
    INFO(text.substr(0, 200));
    CHECK_THROWS_AS(read_request(text), std::exception);
  }
}

// By the limits of event_messages.cpp: 65,536 numbers an embedding.
TEST_CASE("a micro-batch that is larger than it may be is refused where it comes") {
  const auto request = [](std::size_t width) {
    EventLog log;
    log.shape_group({{{0, 0}}, {1.0}, {}, std::vector<double>(width, 0.5)});
    return request_of(log);
  };
  CHECK_NOTHROW(read_request(request(65536)));
  CHECK_THROWS_AS(read_request(request(65537)), std::exception);
}

TEST_CASE("tallies that do not add up and requests for swaps that are damaged are refused") {
  const auto refused = [](const std::string& text) {
    INFO(text);
    CHECK_THROWS_AS(read_request(text), std::exception);
  };
  REQUIRE_NOTHROW(read_request(tally_request(some_tally())));
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  const std::vector<engine::LossTally> bad = {{1, 10, {4, 0, 2}, 2, 1, ""}, {1, 9, {4, 0, 2}, 3, 1, ""},
                                              {1, 9, {4, 1, 2}, 2, 1, ""},  {1, 9, {4, 0}, 2, 1, ""},
                                              {1, 9, {4, 3, 2}, -1, 1, ""}, {1, most, {}, most, 0, ""},
                                              {1, 9, {4, 0, 2}, 2, 1, std::string(1 << 20, 'x')}};
  for (const engine::LossTally& tally : bad) refused(tally_request(tally));
  std::string text = swap_request(engine::SwapRequest());
  REQUIRE_NOTHROW(read_request(text));
  text.replace(text.find("canary"), 6, "banary");  // its checksum says otherwise
  refused(text);
  refused(R"({"q":1,"call":"swap","request":7})");
  refused(R"({"q":1,"call":"outcome","ticket":1e99})");
  refused(R"({"q":1,"call":"loss"})");
}

TEST_CASE("twenty thousand damaged requests are read or refused") {
  std::mt19937_64 random(11);
  const std::string good = request_of(some_events());
  int refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = good;
    for (std::uint64_t changes = 1 + random() % 3; changes > 0; --changes) {
      const std::size_t at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.erase(at, 1 + random() % 5);
          break;
        case 2:
          text.insert(at, 1, "0123456789-[]{},:\"e."[random() % 20]);
          break;
        default:
          text.insert(at, text.substr(random() % text.size(), random() % 20));
      }
    }
    try {
      (void)read_request(text);
    } catch (const std::exception&) {
      ++refused;
    }
  }
  CHECK(refused > 10000);
}
