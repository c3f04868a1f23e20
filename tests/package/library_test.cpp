// Imports through the lock, as every part of the program that reads policies makes them.
#include "runtime/package/library.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "lang/program.h"
#include "runtime/engine/policy.h"
#include "runtime/package/exchange/install.h"
#include "tests/folder.h"

using namespace allot;

namespace {

namespace fs = std::filesystem;
using allot::test::Folder;

const std::string uses = "policy p\nimport gates\non finish of group g { when gates.few(g.scored) then drop }\n";

// A project whose package `gates`, of this text, lies in the folder `gates`.
void install_gates(const Folder& folder, const std::string& text) {
  folder.write("gates/allot.toml", "name = \"gates\"\nversion = \"1.0.0\"\n");
  folder.write("gates/gates.allot", text);
  folder.write("allot.toml", "[dependencies]\ngates = { path = \"gates\" }\n");
  const auto project = package::read_project(folder.path());
  REQUIRE(project);
  const auto resolution = package::resolve(folder.path(), *project, {}, {});
  REQUIRE(resolution);
  REQUIRE(package::install(folder.path(), *resolution, ""));
}

fs::path project_with_gates(const Folder& folder, int limit) {
  install_gates(folder, "policy gates\nfn few(n: rollouts) -> bool = n < " + std::to_string(limit) + "\n");
  return folder.write("p.allot", uses);
}

}  // namespace

TEST_CASE("the engine loads a policy with the packages of its project, and the hash covers them") {
  const Folder folder;
  const fs::path policy = project_with_gates(folder, 2);
  const auto first = engine::load_policy(policy, {});
  REQUIRE(first);
  CHECK((*first)->program().source->file_count() == 2);
  const Folder other;
  const auto second = engine::load_policy(project_with_gates(other, 3), {});
  REQUIRE(second);
  CHECK((*first)->program().hash != (*second)->program().hash);
  // The same texts elsewhere have the same hash.
  const Folder again;
  CHECK((*engine::load_policy(project_with_gates(again, 2), {}))->program().hash == (*first)->program().hash);
}

TEST_CASE("a package that was changed on disk is not loaded") {
  const Folder folder;
  const fs::path policy = project_with_gates(folder, 2);
  for (const auto& entry : fs::recursive_directory_iterator(folder.path() / ".allot")) {
    if (entry.path().filename() == "gates.allot") std::ofstream(entry.path(), std::ios::app) << "# more\n";
  }
  const auto loaded = engine::load_policy(policy, {});
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().what.find("gates.allot is not the file of its list") != std::string::npos);
}

TEST_CASE("one library sees one state of a package") {
  const Folder folder;
  const fs::path policy = project_with_gates(folder, 2);
  const auto library = package::environment_library();
  const auto first = library->find("gates", policy.string());
  REQUIRE(first);
  fs::remove_all(folder.path() / ".allot");
  const auto second = library->find("gates", policy.string());
  REQUIRE(second);
  CHECK(second->text == first->text);
  CHECK_FALSE(package::environment_library()->find("gates", policy.string()));
}

TEST_CASE("an installed package sees the stdlib of the program, and none of the project that uses it") {
  const Folder alone, with_own;
  with_own.write("stdlib/dynamic_sampling.allot", "policy dynamic_sampling\non finish of group g { drop because \"mine\" }\n");
  with_own.write("stdlib/mine.allot", "policy mine\nfn few(n: rollouts) -> bool = n < 2\n");
  std::string hash;
  for (const Folder* const folder : {&alone, &with_own}) {
    install_gates(*folder, "policy gates = dynamic_sampling\n");
    const auto loaded = engine::load_policy(folder->write("p.allot", "policy p = gates\n"), {});
    if (!loaded) FAIL(loaded.error().text());
    if (hash.empty()) hash = (*loaded)->program().hash;
    CHECK((*loaded)->program().hash == hash);
  }
  // The project itself sees it: so what is looked for is there.
  CHECK(engine::load_policy(with_own.write("q.allot", "policy q\nimport mine\non finish of group g { when mine.few(g.scored) then drop }\n"), {}));
  install_gates(with_own, "policy gates\nimport mine\nfn few(n: rollouts) -> bool = mine.few(n)\n");
  const auto refused = engine::load_policy(with_own.write("p.allot", uses), {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().text().find("there is no file for `mine`") != std::string::npos);
}
