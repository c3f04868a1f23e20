// The texts of a project: allot.toml, allot.lock, allot.files.
#include <catch2/catch.hpp>

#include "runtime/package/content.h"
#include "runtime/package/exchange/install.h"
#include "runtime/package/lock.h"
#include "runtime/package/project.h"
#include "tests/small_stack.h"

using namespace allot::package;

namespace {

Lock some_lock() {
  Lock lock;
  const std::string hash(64, 'a');
  lock.packages.push_back({"alpha", {{1, 2, 3}}, {Source::Kind::Git, "https://h/a.git", "v1.2.3", std::string(40, 'b')}, hash, {"beta", "gamma"}});
  lock.packages.push_back({"beta", {{0, 1, 0}}, {Source::Kind::Path, "../be\"ta\\x", "", ""}, hash, {}});
  lock.packages.push_back({"gamma", {{2, 0, 0}}, {Source::Kind::Registry, "team", "2.0.0", ""}, hash, {}});
  lock.packages.push_back({"team.gates", {{2, 0, 0}}, {Source::Kind::Url, "https://h/x.tar.zst", "", ""}, hash, {}});
  return lock;
}

}  // namespace

TEST_CASE("a lock that is written and read is the same lock, and has one text") {
  const Lock lock = some_lock();
  const auto again = parse_lock(lock_text(lock), "allot.lock");
  REQUIRE(again);
  REQUIRE(again->packages.size() == 4);
  CHECK(lock_text(*again) == lock_text(lock));
  CHECK(again->find("beta")->source.address == "../be\"ta\\x");
  CHECK(again->find("alpha")->source.commit == std::string(40, 'b'));
  CHECK(again->find("alpha")->needs == std::vector<std::string>{"beta", "gamma"});
  CHECK(again->find("delta") == nullptr);
}

TEST_CASE("sources are told apart by what is asked for, not by the commit that was found") {
  const Source asked{Source::Kind::Git, "https://h/a.git", "v1", ""};
  Source found = asked;
  found.commit = std::string(40, 'c');
  CHECK(asked.same(found));
  found.wanted = "v2";
  CHECK_FALSE(asked.same(found));
}

TEST_CASE("the list of files is sorted lines of hash, size and path") {
  // SHA-256 of "abc": FIPS 180-4, example 1; of "": the well-known digest of nothing.
  CHECK(listing_of({{"b.md", ""}, {"a.md", "abc"}}) ==
        "allot-files 1\n"
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad 3 a.md\n"
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 0 b.md\n");
}

TEST_CASE("a dependency is one line of the project file") {
  const Dependency gates{"gates", {Source::Kind::Path, "../gates", "", ""}};
  CHECK(*with_dependency("", gates) == "[dependencies]\ngates = { path = \"../gates\" }\n");
  CHECK(*with_dependency("name = \"x\" # mine\n", gates) ==
        "name = \"x\" # mine\n\n[dependencies]\ngates = { path = \"../gates\" }\n");
  CHECK(*with_dependency("[dependencies]\na = { path = \"a\" }\n# end\n\n[keys]\n", gates) ==
        "[dependencies]\na = { path = \"a\" }\ngates = { path = \"../gates\" }\n# end\n\n[keys]\n");
  CHECK(*with_dependency("[dependencies]\ngates = { path = \"old\" }\nz = { path = \"z\" }\n", gates) ==
        "[dependencies]\ngates = { path = \"../gates\" }\nz = { path = \"z\" }\n");
  CHECK(*with_dependency("", {"team.gates", gates.source}) == "[dependencies]\n\"team.gates\" = { path = \"../gates\" }\n");
  // What is said of it stays.
  CHECK(*with_dependency("[dependencies]\ngates = { path = \"a\\\"#b\" }\t # pinned, see \"it\"\n", gates) ==
        "[dependencies]\ngates = { path = \"../gates\" }\t # pinned, see \"it\"\n");
  CHECK(*with_dependency("[dependencies]\ngates = { path = '#\\' }# why\n", gates) ==
        "[dependencies]\ngates = { path = \"../gates\" }# why\n");
  // Forms that one line cannot change.
  CHECK_FALSE(with_dependency("dependencies = {}\n", gates));
  CHECK_FALSE(with_dependency("[dependencies.gates]\npath = \"old\"\n", gates));
}

TEST_CASE("a project file is read strictly") {
  const auto project = parse_project(
      "name = \"team.gates\"\nversion = \"1.0.0\"\nlicense = \"MIT\"\n[dependencies]\n\"a.b\" = { git = \"git@h:x.git\", rev = \"v1\" }\n"
      "[keys]\nme = \"ed25519:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\"\n[registries]\nteam = \"/r\"\n",
      "allot.toml");
  REQUIRE(project);
  CHECK(project->name == "team.gates");
  CHECK(project->dependencies.at(0).name == "a.b");
  CHECK(project->dependencies.at(0).source.wanted == "v1");
  CHECK(project->keys.at(0).name == "me");
  CHECK(project->registries.at("team") == "/r");
  const auto wrong = parse_project("name = \"x\"\n\n[dependencies]\ny = { path = 3 }\n", "allot.toml");
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().what.find("allot.toml:4") == 0);
}

// toml++ makes a table of each part, one within the other, and frees them so.
TEST_CASE("keys of any depth are refused in words, also on a small stack") {
  const auto key = [](int parts) {
    std::string text = "a";
    for (int i = 1; i < parts; ++i) text += ".a";
    return text;
  };
  allot::test::on_stack(256 << 10, [&] {
    for (const std::string& before : {std::string(), std::string("["), std::string("x = { "), std::string("name = \"#\"\n\"b.c\"."),
                                      std::string("name = 'it'\n# don't\n'#'."), std::string("name = \"\\\"#\"\nx = [1.5, { ")}) {
      const auto deep = parse_project(before + key(100'000) + " = 1", "allot.toml");
      REQUIRE_FALSE(deep);
      CHECK(deep.error().what.find("a key of more than 64 parts") != std::string::npos);
    }
    for (const char* const quotes : {"\"\"\"", "'''"}) {  // the end of such a text would look like the beginning of another
      const auto hidden = parse_project(std::string("x = { y = ") + quotes + "\n" + quotes + ", " + key(100'000) + " = 1 }", "allot.toml");
      REQUIRE_FALSE(hidden);
      CHECK(hidden.error().what.find("allot.toml:1: a text of several lines") == 0);
    }
  });
  // As deep as may be, the reader itself says what it does not know.
  CHECK(parse_project(key(64) + " = 1", "allot.toml").error().what.find("`a` means nothing here") != std::string::npos);
  // Names in lists and texts are no parts of a key.
  std::string lock = "format = 1\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nsource = { path = \"" + std::string(200, '.') +
                     "\" } # " + std::string(200, '.') + "\nsha256 = \"" + std::string(64, 'a') + "\"\nneeds = [\"a.b\"";
  for (int i = 0; i < 20; ++i) lock += ", \"team.part.p" + std::to_string(i) + "\"";
  CHECK(parse_lock(lock + "]\n", "allot.lock"));
}

TEST_CASE("a lock that a merge has left in two is told from one that is no TOML") {
  const auto merged = parse_lock("format = 1\n<<<<<<< ours\n=======\n>>>>>>> theirs\n", "allot.lock");
  REQUIRE_FALSE(merged);
  CHECK(merged.error().help.find("a merge left its marks") == 0);
  CHECK(parse_lock("format = \n", "allot.lock").error().help == "it is written in TOML");
}
