// One process at a time in a run folder.
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "runtime/engine/run_lock.h"
#include "tests/engine/bench.h"
#include "tests/engine/played_runs.h"

using namespace allot::engine;
using bench::Folder;

TEST_CASE("a run folder has one engine at a time, and the second is told whose it is") {
  const Folder folder;
  Settings settings = bench::settings(1, 2);
  settings.run_folder = folder.path();
  auto first = Engine::create(settings);
  REQUIRE(first);
  const auto second = Engine::create(settings);
  REQUIRE_FALSE(second);
  CHECK(second.error().what.find(fmt::format("is in use by process {} on ", ::getpid())) != std::string::npos);
  first = Engine::create(bench::settings(1, 2));  // another one, without a folder
  CHECK(Engine::create(settings));
}

TEST_CASE("the lock goes with its process, however that ends") {
  const Folder folder;
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto lock = RunLock::take(folder.path(), "engine.lock");
    [[maybe_unused]] const auto told = ::write(ready[1], lock ? "y" : "n", 1);
    ::pause();
    ::_exit(0);
  }
  char taken = '?';
  REQUIRE(::read(ready[0], &taken, 1) == 1);
  CHECK(taken == 'y');
  const auto refused = RunLock::take(folder.path(), "engine.lock");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().what.find(fmt::format("process {} on ", child)) != std::string::npos);
  CHECK(RunLock::take(folder.path(), "train.lock"));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  CHECK(RunLock::take(folder.path(), "engine.lock"));
}

TEST_CASE("where nothing can be written nobody is kept out by the lock: what is written next says why it cannot") {
  CHECK(RunLock::take("/proc/none", "engine.lock"));
}
