// Worlds in child processes: a small Python child (children/counter.py) behaves, or misbehaves as its argument says.
// Expected values follow from that script and from docs/worlds.md.
#include <catch2/catch.hpp>

#include <signal.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "runtime/worlds/process/child_process.h"
#include "runtime/worlds/process/process_world.h"
#include "runtime/worlds/process/protocol.h"
#include "runtime/worlds/process/utf8.h"

using namespace allot::worlds;
using namespace allot::worlds::process;
using namespace std::chrono_literals;

namespace {

const std::string script = std::string(ALLOT_SOURCE_DIR) + "/tests/worlds/children/counter.py";

Options options(const std::string& mode, const std::string& turn = "2") {
  Options made;
  made.command = {"python3", script, mode, turn};
  made.children = 2;
  made.hello_timeout = 20s;
  made.reply_timeout = 10s;
  made.max_line = 1 << 20;
  return made;
}

std::unique_ptr<World> open(const Options& options) {
  auto world = open_process(options);
  if (!world) FAIL(world.error().text());
  return *std::move(world);
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

int open_descriptors() {
  int count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

}  // namespace

TEST_CASE("a world in a child process plays a task to its end") {
  const auto world = open(options("good"));
  CHECK(world->name() == "counter");
  CHECK(world->turn_limit() == 9);
  CHECK(world->max_sessions() == 2);
  CHECK(world->vocabulary().size() == 15);
  REQUIRE(world->tasks(Split::Training).size() == 2);
  REQUIRE(world->tasks(Split::HeldOut).size() == 2);
  const Task task = world->tasks(Split::Training)[0];
  CHECK(task.id == "to-3");
  CHECK(task.kind == "short");
  CHECK(task.seed == 3);
  CHECK(world->tasks(Split::HeldOut)[1].id == "held_out-1");

  auto session = *world->open();
  CHECK_FALSE(session->act("up"));  // before a task
  auto reply = session->reset(task);
  REQUIRE(reply);
  CHECK(reply->observation == "at 0");
  reply = session->act("sideways \xff");  // what a model writes need not be UTF-8
  REQUIRE(reply);
  CHECK_FALSE(reply->valid);
  CHECK(reply->action == "invalid");
  CHECK(session->expert_action() == "up");
  REQUIRE(session->act(" up "));
  const auto score = session->score();
  REQUIRE(score);
  CHECK(*score == 0.0);
  REQUIRE(session->act("up"));
  reply = session->act("up");
  REQUIRE(reply);
  CHECK(reply->action == "up");
  CHECK(reply->done);
  CHECK(reply->reward == 1.0);
  CHECK_FALSE(session->expert_action());
  CHECK_FALSE(session->act("up"));  // after the end
  reply = session->reset(task);     // the same session serves the next rollout
  REQUIRE(reply);
  CHECK(reply->observation == "at 0");
}

TEST_CASE("each session has a child of its own, and there are no more than allowed") {
  const auto world = open(options("good"));
  const Task task = world->tasks(Split::Training)[0];
  auto a = *world->open();
  auto b = *world->open();
  const auto refused = world->open();
  REQUIRE_FALSE(refused);
  CHECK(contains(refused.error().what, "All 2 children"));
  REQUIRE(a->reset(task));
  REQUIRE(b->reset(task));
  REQUIRE(a->act("up"));
  REQUIRE(a->act("up"));
  CHECK(b->act("up")->observation == "at 1");
  CHECK(a->act("up")->observation == "at 3");
  a.reset();
  auto c = world->open();  // the place that is free again
  REQUIRE(c);
  CHECK((*c)->reset(task)->observation == "at 0");
  CHECK(b->act("up")->observation == "at 2");
}

TEST_CASE("what a child does wrong ends the rollout with its cause, and the next session works") {
  struct Case {
    std::string mode;
    std::vector<std::string> cause;
  };
  // The limit for answers is 10 s, 1 s for the modes that hang.
  const std::vector<Case> cases{
      {"crash", {"exited with status 3", "`the counter fell apart`"}},
      {"die", {"exited with signal 9"}},
      {"hang", {"gave no answer within 1000 ms"}},
      {"rubbish", {"not a JSON object: `Segmentation fault, or so`"}},
      {"array", {"not a JSON object: `[1, 2]`"}},
      {"half", {"stopped in the middle of a line and exited with status 0"}},
      {"half_hang", {"stopped in the middle of a line for 1000 ms"}},
      {"huge", {"a line of more than 1048576 bytes"}},
      {"flood", {"a line of more than 1048576 bytes"}},
      {"latin1", {"not UTF-8 (byte 29)"}},  // counted in the script's bytes, ids of one digit
      {"nan", {"not a JSON object"}},
      {"overflow", {"not a JSON object"}},
      {"text_reward", {"a `reward` that is no number"}},
      {"no_observation", {"no text as `observation`"}},
      {"wrong_id", {"another `id` than"}},
      {"error", {"reported an error: the counter is stuck"}},
  };
  for (const Case& wrong : cases) {
    INFO(wrong.mode);
    Options made = options(wrong.mode, "4");
    if (contains(wrong.mode, "hang")) made.reply_timeout = 1s;
    const auto world = open(made);
    const Task task{.id = "far", .kind = {}, .seed = 9};
    auto session = *world->open();
    REQUIRE(session->reset(task));
    for (int turn = 1; turn < 4; ++turn) REQUIRE(session->act("up"));
    const auto failed = session->act("up");
    REQUIRE_FALSE(failed);
    INFO(failed.error().what);
    for (const std::string& part : wrong.cause) CHECK(contains(failed.error().what, part));
    CHECK(contains(failed.error().what, "`counter`"));
    CHECK(contains(failed.error().what, "in turn 4 of task `far`"));
    // The rollout stays in error: no score, no further turn, no demonstration.
    CHECK_FALSE(session->score());
    CHECK_FALSE(session->act("up"));
    CHECK_FALSE(session->expert_action());
    // This session and another both go on with fresh children.
    auto other = *world->open();
    REQUIRE(other->reset(task));
    CHECK(other->act("up")->observation == "at 1");
    const auto again = session->reset(task);
    REQUIRE(again);
    CHECK(session->act("up")->observation == "at 1");
  }
}

TEST_CASE("an answer printed twice spoils at most the rollout in which it happens") {
  const auto world = open(options("twice", "2"));
  const Task task{.id = "far", .kind = {}, .seed = 9};
  auto session = *world->open();
  REQUIRE(session->reset(task));
  REQUIRE(session->act("up"));
  REQUIRE(session->act("up"));
  const auto failed = session->act("up");
  REQUIRE_FALSE(failed);
  CHECK(contains(failed.error().what, "another `id` than"));
  REQUIRE(session->reset(task));
  REQUIRE(session->act("up"));
  REQUIRE(session->act("up"));
  std::this_thread::sleep_for(100ms);  // the second line has arrived; a reset must not take it for its answer
  const auto fresh = session->reset(task);
  REQUIRE(fresh);
  CHECK(fresh->observation == "at 0");
}

TEST_CASE("a child killed from outside is an error of its rollout alone, also between rollouts") {
  const auto world = open(options("die", "1"));
  const Task task{.id = "far", .kind = {}, .seed = 9};
  auto session = *world->open();
  for (int round = 0; round < 3; ++round) {
    REQUIRE(session->reset(task));
    const auto failed = session->act("up");
    REQUIRE_FALSE(failed);
    CHECK(contains(failed.error().what, "exited with signal 9 in turn 1"));
  }
}

TEST_CASE("errors at the score are errors, an unscored rollout has no reward") {
  const Task task{.id = "far", .kind = {}, .seed = 9};
  const auto dying = open(options("score_die"));
  auto session = *dying->open();
  REQUIRE(session->reset(task));
  const auto failed = session->score();
  REQUIRE_FALSE(failed);
  CHECK(contains(failed.error().what, "exited with signal 15 at the score of task `far`"));

  const auto unscored = open(options("unscored"));
  auto other = *unscored->open();
  REQUIRE(other->reset(task));
  const auto score = other->score();
  REQUIRE(score);
  CHECK_FALSE(score->has_value());
}

TEST_CASE("a child that crashes at the reset is an error each time") {
  const auto world = open(options("reset_crash"));
  auto session = *world->open();
  for (int round = 0; round < 2; ++round) {
    const auto failed = session->reset({.id = "far", .kind = {}, .seed = 9});
    REQUIRE_FALSE(failed);
    CHECK(contains(failed.error().what, "exited with status 5 at the start of task `far`"));
    CHECK_FALSE(session->act("up"));
  }
}

TEST_CASE("a child may fill its stderr without blocking") {
  const auto world = open(options("chatty_stderr"));
  auto session = *world->open();
  REQUIRE(session->reset({.id = "far", .kind = {}, .seed = 9}));
  REQUIRE(session->act("up"));
  const auto reply = session->act("up");
  REQUIRE(reply);
  CHECK(reply->observation == "at 2");
}

TEST_CASE("a world that cannot be opened says why and points to the protocol") {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"hello_exit", "exited with status 4 at its hello; its last line on stderr: `ImportError: no counter here`"},
      {"hello_hang", "gave no answer within 1000 ms at its hello"},
      {"hello_rubbish", "not a JSON object: `Welcome!`"},
      {"hello_version", "another protocol than version 1"},
      {"hello_tasks", "names no tasks"},
      {"hello_double", "the task `to-3` twice"},
  };
  for (const auto& [mode, cause] : cases) {
    INFO(mode);
    Options made = options(mode);
    if (mode == "hello_hang") made.hello_timeout = 1s;
    const auto world = open_process(made);
    REQUIRE_FALSE(world);
    INFO(world.error().what);
    CHECK(contains(world.error().what, cause));
    CHECK(contains(world.error().help, "docs/worlds.md"));
  }
  Options missing;
  missing.command = {"/no/such/program"};
  const auto world = open_process(missing);
  REQUIRE_FALSE(world);
  CHECK(contains(world.error().what, "cannot be started"));
  CHECK(contains(world.error().what, "No such file"));
  CHECK_FALSE(open_process({}));
}

TEST_CASE("no child, zombie or descriptor is left behind") {
  const int before = open_descriptors();
  {
    const auto world = open(options("die", "2"));
    auto a = *world->open();
    auto b = *world->open();
    const Task task{.id = "far", .kind = {}, .seed = 9};
    for (int round = 0; round < 2; ++round) {
      REQUIRE(a->reset(task));
      REQUIRE(b->reset(task));
      REQUIRE(a->act("up"));
      REQUIRE_FALSE(a->act("up"));
    }
  }
  CHECK(open_descriptors() == before);
  // waitpid finds no child of ours, dead or alive.
  errno = 0;
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
  CHECK(errno == ECHILD);
}

TEST_CASE("a child that does not end by itself is killed") {
  const auto start = Clock::now();
  int pid = 0;
  {
    auto child = ChildProcess::start({"sleep", "600"}, 1000);
    REQUIRE(child);
    pid = (*child)->pid();
    CHECK(::kill(pid, 0) == 0);
    CHECK_FALSE((*child)->receive(50ms));
    (*child)->close_input();
  }
  CHECK(::kill(pid, 0) == -1);
  CHECK(Clock::now() - start < 10s);
}

TEST_CASE("a child that does not read is an error, not a block, and leaves SIGPIPE alone") {
  auto deaf = ChildProcess::start({"sleep", "600"}, 1000);
  REQUIRE(deaf);
  const std::string long_line(4 << 20, 'x');
  const auto unread = (*deaf)->send(long_line, 200ms);
  REQUIRE_FALSE(unread);
  CHECK(contains(unread.error().what, "did not read its input within 200 ms"));

  auto gone = ChildProcess::start({"true"}, 1000);
  REQUIRE(gone);
  std::this_thread::sleep_for(200ms);
  const auto broken = (*gone)->send("anybody there?", 1s);  // with SIGPIPE at its default this would end the test
  REQUIRE_FALSE(broken);
  CHECK(contains(broken.error().what, "exited with status 0"));
}

TEST_CASE("the complete world of docs/worlds.md is one") {
  std::ifstream file(std::string(ALLOT_SOURCE_DIR) + "/docs/worlds.md");
  std::stringstream text;
  text << file.rdbuf();
  const std::string docs = text.str(), fence = "```python\n";
  const auto begin = docs.find(fence) + fence.size();
  const auto end = docs.find("```", begin);
  REQUIRE(end != std::string::npos);
  Options made = options("good");
  made.command = {"python3", "-c", docs.substr(begin, end - begin)};
  const auto world = open(made);
  REQUIRE(world->tasks(Split::HeldOut).size() == 5);
  auto session = *world->open();
  REQUIRE(session->reset(world->tasks(Split::Training)[2]));  // its goal is 3
  CHECK_FALSE(session->act("what?")->valid);
  CHECK_FALSE(session->act("up")->done);
  CHECK(session->score().operator*() == 0.0);
  CHECK_FALSE(session->act("up")->done);
  CHECK(session->act("up")->reward == 1.0);
  CHECK_FALSE(session->expert_action());
}

TEST_CASE("UTF-8 is checked as RFC 3629 says") {
  // Examples of RFC 3629 section 7 and the edges of its grammar (section 4).
  for (const std::string good : {"", "abc", "A\xE2\x89\xA2\xCE\x91.", "\xED\x95\x9C", "\xF0\xA3\x8E\xB4",
                                 "\xEF\xBF\xBF", "\xF4\x8F\xBF\xBF", "\xEE\x80\x80", "\xED\x9F\xBF", "\xC2\x80",
                                 "\xE0\xA0\x80"}) {
    CHECK_FALSE(first_bad_utf8(good));
  }
  const std::vector<std::pair<std::string, std::size_t>> bad{
      {"\x80", 0},           {"ab\xC0\x80", 2},         {"\xC1\xBF", 0},         {"a\xE0\x80\x80", 1},
      {"\xED\xA0\x80", 0},   {"\xF0\x80\x80\x80", 0},   {"\xF4\x90\x80\x80", 0}, {"\xF5\x80\x80\x80", 0},
      {"\xE2\x89", 0},       {"x\xE2\x28\xA1", 1},      {"\xFF", 0},             {"\xC3\xA9\xC3", 2}};
  for (const auto& [text, at] : bad) CHECK(first_bad_utf8(text) == at);
}

TEST_CASE("requests are one line of JSON whatever the text") {
  const std::string request = act_request(7, "a \"b\"\n\\ \xff \xE2\x89\xA2");
  CHECK(request.find('\n') == std::string::npos);
  CHECK_FALSE(first_bad_utf8(request));
  // RFC 8259: quote, backslash and newline escaped; U+FFFD for the byte that is not UTF-8.
  CHECK(request == "{\"call\":\"act\",\"id\":7,\"text\":\"a \\\"b\\\"\\n\\\\ \xEF\xBF\xBD \xE2\x89\xA2\"}");
}
