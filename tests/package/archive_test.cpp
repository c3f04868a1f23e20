// Archives and bundles: one form, and nothing else is read. The kinds of hostile ones are in tests/cli/hostile.py.
#include <catch2/catch.hpp>
#include <random>

#include "runtime/package/exchange/bundle.h"
#include "runtime/package/exchange/tar.h"

using namespace allot::package;

namespace {

Files some_files() {
  return {{"allot.toml", "name = \"gates\"\nversion = \"1.0.0\"\n"},
          {"gates.allot", std::string(700, 'x')},
          {"a/b.allot", ""},
          {"README.md", std::string(512, 'y')}};
}

}  // namespace

TEST_CASE("what was packed is unpacked") {
  const Entries entries{{"a", ""}, {"b", std::string(511, 'x')}, {"c", std::string(512, '\0')}, {"d", std::string(513, 'y')}};
  const std::string tar = to_tar(entries);
  // 4 headers, 0 + 1 + 1 + 2 blocks, 2 at the end.
  CHECK(tar.size() == 512 * (4 + 4 + 2));
  const auto again = from_tar(tar);
  REQUIRE(again);
  CHECK(*again == entries);
}

TEST_CASE("every archive that is read is the one archive of what was read") {
  const std::string tar = to_tar({{"a.md", std::string(300, 'x')}, {"b/c.md", std::string(700, 'y')}});
  std::mt19937 random(7);
  int read = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string changed = tar;
    for (unsigned j = 0; j <= random() % 3; ++j) changed[random() % changed.size()] = static_cast<char>(random());
    if (random() % 8 == 0) changed.resize(random() % (changed.size() + 1024));
    const auto entries = from_tar(changed);
    if (!entries) continue;
    ++read;
    REQUIRE(to_tar(*entries) == changed);
  }
  CHECK(read > 1000);  // changes within the files' bytes
}

TEST_CASE("a bundle is one text of a package") {
  const auto package = examine(some_files(), false);
  REQUIRE(package);
  const auto bundle = to_bundle(*package);
  REQUIRE(bundle);
  const auto again = from_bundle(*bundle, "it");
  REQUIRE(again);
  CHECK(again->files == package->files);
  CHECK(again->hash == package->hash);
  CHECK(*to_bundle(*again) == *bundle);
}

TEST_CASE("each byte of every file is in the hash") {
  const auto package = examine(some_files(), false);
  REQUIRE(package);
  for (const auto& [path, bytes] : some_files()) {
    Files files = some_files();
    files[path] += "\n";
    CHECK(examine(files, false)->hash != package->hash);
    if (path == "allot.toml") continue;
    files = some_files();
    auto node = files.extract(path);
    node.key() = "other.md";
    files.insert(std::move(node));
    CHECK(examine(files, false)->hash != package->hash);
  }
}
