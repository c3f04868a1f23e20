#include "golden.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

namespace allot::test {
namespace {

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) result.push_back(line);
  return result;
}

// The lines around the first difference, those expected with '-', those given with '+'.
std::string difference(const std::string& expected, const std::string& given) {
  const auto want = lines(expected), got = lines(given);
  std::size_t at = 0;
  while (at < want.size() && at < got.size() && want[at] == got[at]) ++at;
  std::string text = "line " + std::to_string(at + 1) + ":\n";
  for (std::size_t i = at > 2 ? at - 2 : 0; i < at; ++i) text += "  " + want[i] + "\n";
  for (std::size_t i = at; i < std::min(want.size(), at + 6); ++i) text += "- " + want[i] + "\n";
  for (std::size_t i = at; i < std::min(got.size(), at + 6); ++i) text += "+ " + got[i] + "\n";
  return text;
}

bool set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

}  // namespace

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  INFO(path);
  REQUIRE(in.good());
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void compare_golden(const std::string& folder, int least,
                    const std::function<std::string(const std::string&, const std::string&)>& give) {
  const std::filesystem::path path = std::filesystem::path(ALLOT_SOURCE_DIR) / "tests/golden" / folder;
  std::vector<std::filesystem::path> cases;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    if (entry.path().extension() == ".allot") cases.push_back(entry.path());
  }
  std::sort(cases.begin(), cases.end());
  REQUIRE(static_cast<int>(cases.size()) >= least);
  const bool update = set("ALLOT_UPDATE_GOLDEN");
  if (update && set("CI")) FAIL("golden files are not rewritten in CI");
  for (const auto& file : cases) {
    const auto given = give(file.filename().string(), read_file(file.string()));
    auto expected_path = file;
    expected_path.replace_extension(".expected");
    if (update) {
      std::ofstream(expected_path, std::ios::binary) << given;
      continue;
    }
    const auto expected = std::filesystem::exists(expected_path) ? read_file(expected_path.string()) : "";
    if (given != expected) FAIL_CHECK(file.filename().string() << ", " << difference(expected, given));
  }
}

}  // namespace allot::test
