// Real TextWorld games, made here and played through the child process. Without the package textworld the test says
// that it is skipped and checks only what needs no games.
#include <catch2/catch.hpp>

#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>

#include "runtime/worlds/make_world.h"

using namespace allot::worlds;
namespace fs = std::filesystem;

namespace {

const fs::path source = ALLOT_SOURCE_DIR;
const fs::path games = fs::path(ALLOT_TEST_FOLDER) / "textworld_games";

std::string python() {
  const fs::path own = source / ".venv/bin/python";
  return fs::exists(own) ? own.string() : "python3";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// False where textworld cannot be imported.
bool games_made() {
  if (std::system((python() + " -c 'import textworld' 2>/dev/null").c_str()) != 0) {
    std::cerr << "\n*** SKIPPED: " << python() << " cannot import textworld; no TextWorld game was played ***\n\n";
    WARN("skipped: textworld is not installed");
    return false;
  }
  const std::string make = python() + " " + (source / "runtime/worlds/textworld/make_games.py").string() + " " +
                           games.string() + " --training 3 --held-out 2 --seed 7";
  REQUIRE(std::system(make.c_str()) == 0);
  return true;
}

std::unique_ptr<World> open(textworld::Style style) {
  WorldOptions options;
  options.textworld.games = games;
  options.textworld.children = 2;
  options.textworld.style = style;
  auto world = make_world("textworld", options);
  if (!world) FAIL(world.error().text());
  return *std::move(world);
}

std::size_t words_outside(const std::string& text, const std::set<std::string>& vocabulary) {
  std::istringstream in(text);
  std::size_t count = 0;
  for (std::string word; in >> word;) {
    if (vocabulary.contains(word)) continue;
    ++count;
    UNSCOPED_INFO("not in the vocabulary: " << word << " in: " << text);
  }
  return count;
}

// Plays the game's own solution; returns its actions. The last reply must be a win.
std::vector<std::string> play(Session& session, const Task& task, const std::set<std::string>& vocabulary) {
  INFO(task.id);
  auto reply = session.reset(task);
  if (!reply) FAIL(reply.error().text());
  CHECK(words_outside(reply->observation, vocabulary) == 0);
  std::vector<std::string> actions;
  while (!reply->done && actions.size() < 30) {
    const auto action = session.expert_action();
    REQUIRE(action);
    reply = session.act(*action);
    if (!reply) FAIL(reply.error().text());
    CHECK(reply->valid);
    CHECK(reply->action == *action);
    CHECK(words_outside(reply->observation, vocabulary) == 0);
    CHECK(words_outside(reply->action, vocabulary) == 0);
    CHECK(reply->reward.has_value() == reply->done);
    actions.push_back(*action);
  }
  CHECK(reply->done);
  CHECK(reply->reward == 1.0);
  CHECK(session.score().operator*() == 1.0);
  return actions;
}

void kill_own_children() {
  for (const auto& thread : fs::directory_iterator("/proc/self/task")) {
    std::ifstream children(thread.path() / "children");
    for (int pid = 0; children >> pid;) ::kill(pid, SIGKILL);
  }
}

}  // namespace

TEST_CASE("a folder without games is an error that says how to make them") {
  WorldOptions options;
  auto world = make_world("textworld", options);
  REQUIRE_FALSE(world);
  options.textworld.games = "/no/such/folder";
  world = make_world("textworld", options);
  REQUIRE_FALSE(world);
  CHECK(contains(world.error().what, "no folder of games at `/no/such/folder`"));
  const fs::path empty = fs::path(ALLOT_TEST_FOLDER) / "no_games";
  fs::create_directories(empty / "training");
  std::ofstream(empty / "training" / "game.z8") << "a game without its json";
  options.textworld.games = empty;
  world = make_world("textworld", options);
  REQUIRE_FALSE(world);
  CHECK(contains(world.error().what, "no TextWorld games"));
  CHECK(contains(world.error().help, "make_games.py " + empty.string()));
}

TEST_CASE("an interpreter without textworld is an error that says so") {
  const fs::path folder = fs::path(ALLOT_TEST_FOLDER) / "some_games";
  fs::create_directories(folder);
  std::ofstream(folder / "game.z8") << "x";
  std::ofstream(folder / "game.json") << "{}";
  WorldOptions options;
  options.textworld.games = folder;
  options.textworld.python = "/no/such/python";
  const auto world = make_world("textworld", options);
  REQUIRE_FALSE(world);
  CHECK(contains(world.error().what, "`/no/such/python`"));
}

TEST_CASE("real TextWorld games are played, won, and survive the death of their child") {
  if (!games_made()) return;
  {
    const auto world = open(textworld::Style::Brief);
    CHECK(world->name() == "textworld");
    CHECK(world->turn_limit() == 30);
    CHECK(world->max_sessions() == 2);
    REQUIRE(world->tasks(Split::Training).size() == 3);
    REQUIRE(world->tasks(Split::HeldOut).size() == 2);
    const auto list = world->vocabulary();
    const std::set<std::string> vocabulary(list.begin(), list.end());
    auto session = *world->open();
    std::vector<std::string> solution;
    for (const Split split : {Split::Training, Split::HeldOut}) {
      for (const Task& task : world->tasks(split)) solution = play(*session, task, vocabulary);
    }
    // The same game once more, badly. Its shortest solution has at least three turns (make_games.py: SIZES).
    const Task task = world->tasks(Split::HeldOut).back();
    REQUIRE(solution.size() >= 3);
    REQUIRE(session->reset(task));
    auto reply = session->act("dance the night away");
    REQUIRE(reply);
    CHECK_FALSE(reply->valid);
    CHECK(reply->action == "invalid");
    reply = session->act("  LOOK ");
    REQUIRE(reply);
    CHECK(reply->valid);
    CHECK(reply->action == "look");
    reply = session->act(solution.back());  // understood, but too early
    REQUIRE(reply);
    CHECK(reply->valid);
    CHECK_FALSE(reply->done);
    CHECK(session->score().operator*() == 0.0);

    kill_own_children();
    const auto failed = session->act("look");
    REQUIRE_FALSE(failed);
    CHECK(contains(failed.error().what, "`textworld` exited with signal 9 in turn 4 of task `" + task.id + "`"));
    CHECK_FALSE(session->score());
    auto other = *world->open();
    CHECK(play(*other, task, vocabulary) == solution);
    CHECK(play(*session, task, vocabulary) == solution);
  }
  const auto world = open(textworld::Style::Full);
  const auto list = world->vocabulary();
  CHECK(list.size() <= 600);
  const std::set<std::string> vocabulary(list.begin(), list.end());
  auto session = *world->open();
  play(*session, world->tasks(Split::Training)[0], vocabulary);
}

TEST_CASE("worlds are made by name, and an unknown name gets the nearest one") {
  CHECK(world_names() == std::vector<std::string_view>{"household", "process", "textworld"});
  WorldOptions options;
  options.household.training_tasks = 6;
  options.household.held_out_tasks = 6;
  const auto world = make_world("household", options);
  REQUIRE(world);
  CHECK((*world)->name() == "household");
  const auto typo = make_world("housold");
  REQUIRE_FALSE(typo);
  CHECK(contains(typo.error().what, "`housold`"));
  CHECK(contains(typo.error().help, "did you mean `household`?"));
  const auto other = make_world("alfworld-like thing");
  REQUIRE_FALSE(other);
  CHECK_FALSE(contains(other.error().help, "did you mean"));
  CHECK(contains(other.error().help, "household process textworld"));
}
