// The files that the fuzzers begin with, those on which something was once wrong among them, and all policies of the
// project: each still does no harm.
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "tests/fuzz/targets.h"

namespace fs = std::filesystem;

namespace {

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<fs::path> files(const fs::path& folder) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) found.push_back(entry.path());
  }
  return found;
}

}  // namespace

TEST_CASE("each file of the corpus is taken by its target") {
  const fs::path corpus = fs::path(ALLOT_SOURCE_DIR) / "tests/fuzz/corpus";
  std::set<std::string> folders;
  for (const auto& target : allot::fuzz::targets()) {
    folders.insert(std::string(target.corpus));
    int taken = 0;
    for (const fs::path& file : files(corpus / target.corpus)) {
      INFO(target.name << " on " << file.string());
      CHECK_NOTHROW(target.run(read(file)));
      ++taken;
    }
    INFO(target.name);
    CHECK(taken > 0);
  }
  for (const auto& entry : fs::directory_iterator(corpus)) CHECK(folders.contains(entry.path().filename().string()));
}

TEST_CASE("policies of the project are laid out without loss") {
  for (const auto* folder : {"stdlib", "examples", "tests/golden"}) {
    for (const fs::path& file : files(fs::path(ALLOT_SOURCE_DIR) / folder)) {
      if (file.extension() != ".allot") continue;
      INFO(file.string());
      CHECK_NOTHROW(allot::fuzz::format(read(file)));
    }
  }
}

// Cut anywhere, a policy is refused or read, and never decides differently from one engine to the next.
TEST_CASE("a policy that is cut off anywhere does no harm") {
  const std::string text = read(fs::path(ALLOT_SOURCE_DIR) / "stdlib/sara.allot");
  for (std::size_t end = 0; end < text.size(); end += 7) {
    INFO(end);
    CHECK_NOTHROW(allot::fuzz::policy(std::string_view(text).substr(0, end)));
    CHECK_NOTHROW(allot::fuzz::format(std::string_view(text).substr(0, end)));
  }
}
