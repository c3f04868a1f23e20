// What tests of requests and of watched files share: a run in a folder of its own, and a desk to wait for.
#pragma once

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "runtime/engine/swap_desk.h"
#include "tests/engine/bench.h"
#include "tests/engine/folder.h"

namespace allot::engine::desk {

using bench::Driver;
using Folder = bench::MadeFolder;
using bench::prompts;
using bench::settings;
using bench::steady;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

inline void write(const fs::path& file, const std::string& text) { std::ofstream(file, std::ios::binary) << text; }

inline std::string gate(int line) { return fmt::format("policy gate\non finish of group g {{ train }}\n# {}\n", line); }

inline std::unique_ptr<LiveEngine> engine_in(const fs::path& run, const std::string& text = gate(0)) {
  write(run / "first.allot", text);
  auto policy = load_policy(run / "first.allot", {});
  REQUIRE(policy);
  Settings made = settings(2, 2);
  made.run_folder = run;
  made.native = false;
  auto engine = LiveEngine::create(made, *policy);
  if (!engine) FAIL(engine.error().text());
  return *std::move(engine);
}

inline SwapRequest request_of(const std::string& text, const std::string& expected = "") {
  SwapRequest request;
  request.text.file = "gate.allot";
  request.text.text = text;
  request.expected = expected;
  return request;
}

template <typename Holds>
bool comes_true(const Holds& holds, std::chrono::milliseconds within = 5000ms) {
  for (const auto until = std::chrono::steady_clock::now() + within; std::chrono::steady_clock::now() < until;) {
    if (holds()) return true;
    std::this_thread::sleep_for(5ms);
  }
  return holds();
}

}  // namespace allot::engine::desk
