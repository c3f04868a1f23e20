// Names of packages, versions and files.
#include "runtime/package/names.h"

#include <catch2/catch.hpp>

#include "runtime/package/files.h"
#include "runtime/package/limits.h"

using namespace allot::package;

TEST_CASE("versions are three numbers, compared as numbers") {
  CHECK(parse_version("1.2.10")->text() == "1.2.10");
  CHECK(*parse_version("1.10.0") > *parse_version("1.9.9"));
  CHECK(*parse_version("0.0.0") < *parse_version("0.0.1"));
  for (const char* wrong : {"", "1", "1.2", "1.2.3.4", "1.2.x", "01.2.3", "-1.2.3", "+1.2.3", "1.2.3 ", "1.2.1000000",
                            "1.2.99999999999999999999", "1..2", "1.2.3-beta"}) {
    INFO(wrong);
    CHECK_FALSE(parse_version(wrong));
  }
}

TEST_CASE("names of packages are words that an import can name") {
  for (const char* good : {"gates", "team.gates", "a1_b", "a.b.c"}) CHECK(is_package_name(good));
  for (const char* wrong : {"", "Gates", "1a", ".a", "a.", "a..b", "a-b", "a/b", "..", "_a", "con", "a.nul", "g\xC3\xA9"}) {
    INFO(wrong);
    CHECK_FALSE(is_package_name(wrong));
  }
  CHECK(is_package_name(std::string(limits.name_bytes, 'a')));
  CHECK_FALSE(is_package_name(std::string(limits.name_bytes + 1, 'a')));
}

TEST_CASE("names that an import means the standard library by") {
  for (const char* taken : {"stdlib", "stdlib.gates", "dynamic_sampling", "pods"}) {
    INFO(taken);
    CHECK_FALSE(check_not_standard(taken));
  }
  for (const char* free : {"gates", "team.pods", "stdlibs", "pods.gates"}) {
    INFO(free);
    CHECK(check_not_standard(free));
  }
}

TEST_CASE("paths that may stand in a package") {
  for (const char* good : {"allot.toml", "gates.allot", "team/soft.allot", "README.md", "a/b/c/d/e/f/g/h.allot", "com.md", "com10.md",
                           "console.allot", "LICENSE-2.0"}) {
    INFO(good);
    CHECK(path_problem(good).empty());
  }
  CHECK(path_problem(std::string(limits.path_bytes, 'a')).empty());
  CHECK_FALSE(path_problem(std::string(limits.path_bytes + 1, 'a')).empty());
}

TEST_CASE("names that are one name where case does not count, in every part of a path") {
  CHECK(collision({"a.allot", "b.allot", "a/b.allot", "a/c.allot"}).empty());
  CHECK_FALSE(collision({"a.allot", "A.allot"}).empty());
  CHECK_FALSE(collision({"x/a.allot", "X/b.allot"}).empty());
  CHECK_FALSE(collision({"x/y/a.allot", "x/Y/b.allot"}).empty());
  CHECK_FALSE(collision({"README", "README/a.md"}).empty());
  CHECK_FALSE(collision({"README/a.md", "README"}).empty());
  CHECK_FALSE(collision({"a.allot", "a.allot"}).empty());
}

TEST_CASE("limits of a package are the numbers that are stated, not one more") {
  Files files{{"allot.toml", ""}};
  for (std::size_t i = files.size(); i < limits.files; ++i) files.emplace("f" + std::to_string(i) + ".md", "");
  CHECK(check_files(files));
  files.emplace("z.md", "");
  CHECK_FALSE(check_files(files));
  Files large{{"allot.toml", std::string(limits.text_bytes, '#')}, {"a.md", std::string(limits.file_bytes, 'x')}};
  CHECK(check_files(large));
  large["a.md"] += 'x';
  CHECK_FALSE(check_files(large));
}

TEST_CASE("what a message shows of a name can do nothing to a terminal") {
  CHECK(shown("a\x1b[2J\n\xff") == "a\\x1b[2J\\x0a\\xff");
  CHECK(shown(std::string(1000, 'a')).size() < 130);
}
