// One process at a time in a run folder.
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "runtime/engine/auditing.h"
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

TEST_CASE("a folder that is not the one of the lock any more is noticed") {
  const bench::MadeFolder place;
  const std::filesystem::path run = place.path / "run", moved = place.path / "moved";
  const auto lock = RunLock::take(run, "engine.lock");
  REQUIRE(lock);
  CHECK_FALSE(lock->has_moved());
  std::filesystem::rename(run, moved);
  CHECK(lock->has_moved());
  std::filesystem::create_directories(run);  // another one in its place
  CHECK(lock->has_moved());
  std::filesystem::remove(run);
  std::filesystem::rename(moved, run);
  CHECK_FALSE(lock->has_moved());
  CHECK_FALSE(RunLock().has_moved());
}

TEST_CASE("a run whose folder was moved away says so at each barrier") {
  const bench::MadeFolder place;
  const std::filesystem::path run = place.path / "run", checkpoint = place.path / "checkpoint";
  std::filesystem::create_directories(checkpoint);
  Settings settings = bench::settings(1, 2);
  settings.run_folder = run;
  const auto engine = Engine::create(settings);
  REQUIRE(engine);
  bench::Driver driver(**engine, [](const std::string&, int sample) { return bench::steady(2, sample); });
  const auto told = [&](int iteration) {
    return driver.run(iteration, {"p0"}).message.find(fmt::format("is not at {} any more", run.string())) != std::string::npos;
  };
  CHECK_FALSE(told(0));
  REQUIRE((*engine)->save_state_in(checkpoint));  // what is written in the background is written
  std::filesystem::rename(run, place.path / "moved");
  std::filesystem::create_directories(run);
  CHECK(told(1));
  CHECK(told(2));
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

TEST_CASE("the child of a fork does not go on with its parent's run, nor hangs when it lets go of it") {
  const Folder folder;
  const bench::MadeFolder place;
  bench::write_file(place.path / "p.allot", "policy p\non finish of group g { train }\n");
  Settings settings = bench::settings(1, 2);
  settings.policy = place.path / "p.allot";
  settings.run_folder = folder.path();
  settings.native = false;
  auto made = Engine::create(settings);
  REQUIRE(made);
  std::unique_ptr<Engine> engine = *std::move(made);
  const auto in_memory = bench::engine_of("", bench::settings(1, 2));
  bench::Driver driver(*engine, [](const std::string&, int sample) { return bench::steady(2, sample); });
  driver.run(0, {"p0"});
  const std::string before = bench::read_file(folder.segment(1));
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(10);
    const auto refused = [](const auto& result) {
      return !result && result.error().what.find("This process was forked") != std::string::npos;
    };
    const bool all = refused(engine->begin_iteration(1, {"p1"})) && refused(engine->turn({0, 0}, {})) &&
                     refused(engine->ended({0, 0}, {})) && refused(engine->end_iteration()) &&
                     refused(engine->set_pool({})) && refused(engine->shape_group({})) && refused(engine->shape({})) &&
                     refused(engine->restore("")) && refused(engine->restore_from(folder.path())) &&
                     refused(engine->save_state_in(folder.path())) &&
                     engine->swap({}).reason.find("This process was forked") != std::string::npos;
    const bool own = static_cast<bool>(in_memory->begin_iteration(0, {"p0"}));  // a copy like any other
    engine.reset();
    ::_exit(all && own ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(bench::read_file(folder.segment(1)) == before);
  CHECK_FALSE(Engine::create(settings));  // the child's end has not freed the folder
  driver.run(1, {"p1"});
  engine.reset();
  const auto audited = audit_run(folder.path());
  REQUIRE(audited);
  CHECK(audited->good());
  CHECK(audited->iterations == 2);
}

TEST_CASE("where nothing can be written nobody is kept out by the lock: what is written next says why it cannot") {
  CHECK(RunLock::take("/proc/none", "engine.lock"));
}
