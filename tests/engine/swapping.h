// What tests of swaps share: policies to swap to, requests, and what came of them.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/engine/journal.h"
#include "tests/engine/bench.h"
#include "tests/engine/folder.h"

namespace allot::engine::swapping {

using bench::Course;
using bench::Driver;
using Folder = bench::MadeFolder;
using bench::prompts;
using bench::settings;
using bench::steady;
namespace fs = std::filesystem;

inline PolicyText text_of(const std::string& text, const std::string& file = "gate.allot") {
  PolicyText made;
  made.file = file;
  made.text = text;
  return made;
}

inline std::shared_ptr<Policy> policy_of(const std::string& text, const std::map<std::string, std::string>& set = {}) {
  auto policy = load_policy(text_of(text), set);
  if (!policy) FAIL(policy.error().text());
  return *std::move(policy);
}

inline std::unique_ptr<LiveEngine> engine_of(const std::string& text, Settings made,
                                      const std::map<std::string, std::string>& set = {}) {
  made.native = false;
  auto engine = LiveEngine::create(made, policy_of(text, set));
  if (!engine) FAIL(engine.error().text());
  return *std::move(engine);
}

inline SwapRequest request_of(const std::string& text, const std::string& expected = "") {
  SwapRequest request;
  request.text = text_of(text);
  request.expected = expected;
  return request;
}

inline SwapRequest back(StateOf state) {
  SwapRequest request;
  request.back = state;
  return request;
}

inline std::string gate(double least) {
  return fmt::format("policy gate\nparam least: real = {}\non finish of group g {{\n"
                     "  when (g.reward_mean ?? 0) < least then drop because \"mean {{g.reward_mean ?? 0}} < {{least}}\"\n"
                     "  otherwise train\n}}\n", least);
}

// The mean reward of a group of two is half its prompt's digit: 0, 0.5, 1, …
inline Course by_digit(const std::string& prompt, int sample) { return steady(2, sample == 0 ? 0.0 : prompt.back() - '0'); }

inline std::map<std::string, Fate> fates(const Driver& driver) {
  std::map<std::string, Fate> all;
  for (const GroupResult& result : driver.closed) all[result.prompt] = result.fate;
  return all;
}

inline std::vector<nlohmann::ordered_json> records(const fs::path& run, const std::string& kind) {
  std::vector<nlohmann::ordered_json> found;
  auto read = read_journal(run / "journal", [&](const nlohmann::ordered_json& record) {
    if (record.at("k") == kind) found.push_back(record);
  });
  REQUIRE(read);
  return found;
}


inline std::string learner(const std::string& state, const std::string& update, const std::string& more = "") {
  return fmt::format("policy learner\nhit when reward >= 1\n{}\n{}on finish of group g {{ train }}\n"
                     "on update of batch b {{\n  for each g in b.ended {{ {} }}\n}}\n", state, more, update);
}

inline const std::string with_beta = learner("state belief: beta per prompt = beta(1, 1)",
                                      "remember belief[g.prompt] = observe(belief[g.prompt], g.hits, g.misses)");
inline const std::string as_mean = learner("state belief: real per prompt = 0.5", "remember belief[g.prompt] = 0.9 * belief[g.prompt]",
                                    "migrate belief from beta = beta_mean(old)\n");

}  // namespace allot::engine::swapping
