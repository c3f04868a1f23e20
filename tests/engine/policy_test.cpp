// Loading a policy, changing over to machine code, and asking again what the journal recorded.
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <set>

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/engine/journal.h"
#include "tests/engine/bench.h"

using namespace allot;
using namespace allot::engine;
using bench::Course;
using bench::Driver;
using bench::engine_of;
using bench::prompts;
using bench::settings;
using bench::steady;
namespace fs = std::filesystem;

namespace {

const char* const stopper = "policy stopper\non turn 2 of group g { stop, drop }\n";

struct Folder {
  fs::path path = fs::temp_directory_path() / fmt::format("allot_policy_{}", ::getpid());
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  fs::path file(const std::string& text) const {
    std::ofstream(path / "policy.allot", std::ios::binary) << text;
    return path / "policy.allot";
  }
};

std::string refusal(const fs::path& policy, const std::map<std::string, std::string>& set = {}) {
  Settings made = settings(1, 2);
  made.policy = policy;
  made.parameters = set;
  auto engine = Engine::create(made);
  REQUIRE_FALSE(engine);
  return engine.error().text();
}

}  // namespace

TEST_CASE("what cannot be a policy is refused with what to do") {
  const Folder folder;
  CHECK(refusal(folder.path / "none.allot").find("no policy file") != std::string::npos);
  CHECK(refusal(folder.path).find("is not a file") != std::string::npos);
  CHECK(refusal("/dev/zero").find("is not a file") != std::string::npos);
  CHECK(refusal(folder.file("policy p\non turn 2 of group g { sotp }\n")).find("error") != std::string::npos);
  CHECK(refusal(folder.file(std::string(2 << 20, '#'))).find("larger than") != std::string::npos);
  CHECK(refusal(folder.file("policy p\nparam at: turns = 2\non turn at of group g { stop }\n"), {{"att", "3"}})
            .find("at") != std::string::npos);
}

TEST_CASE("an engine made from a file names its policy and its hash") {
  const Folder folder;
  Settings made = settings(1, 2);
  made.policy = folder.file("");
  std::ofstream(made.policy) << stopper;
  auto engine = Engine::create(made);
  REQUIRE(engine);
  CHECK((*engine)->policy_name() == "stopper");
  CHECK((*engine)->policy_hash().size() == 64);
  Driver driver(**engine, [](const std::string&, int sample) { return steady(4, sample); });
  CHECK(driver.run(0, prompts(1)).skip_update);
  CHECK((*engine)->seconds_spent() > 0);
}

TEST_CASE("a packed policy brings along what it names, and damage is seen") {
  Settings made = settings(1, 2);
  std::string packed, hash;
  {
    const Folder folder;
    std::ofstream(folder.path / "both.allot") << "policy both = part then level\n";
    std::ofstream(folder.path / "part.allot") << "policy part\non finish of group g { when g.scored < 2 rollouts then drop }\n";
    std::ofstream(folder.path / "level.allot") << "policy level\non finish of group g { when g.flat then drop }\n";
    const auto policy = load_policy(folder.path / "both.allot", {});
    REQUIRE(policy);
    packed = pack((*policy)->origin()->text);
    hash = (*policy)->program().hash;
  }
  const auto unpacked = unpack(packed);
  REQUIRE(unpacked);
  made.policy_text = *unpacked;
  const auto engine = Engine::create(made);
  REQUIRE(engine);
  CHECK((*engine)->policy_hash() == hash);
  for (std::size_t i = 0; i < packed.size(); ++i) {  // a checksum of 32 bits sees every change of one byte
    std::string damaged = packed;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    CHECK_FALSE(unpack(damaged));
  }
  CHECK_FALSE(unpack(packed + "\n"));
  CHECK_FALSE(unpack(""));
}

TEST_CASE("machine code takes over when it is ready, and a failure leaves the evaluator and a note") {
  // A stand-in that counts who is asked.
  struct Counting final : compiler::Executable {
    std::unique_ptr<compiler::Executable> inner;
    std::shared_ptr<std::atomic<int>> asked;
    void decide(int handler, const compiler::Frame& frame, compiler::Outcome& outcome) const noexcept override {
      ++*asked;
      inner->decide(handler, frame, outcome);
    }
    lang::Cell hit(const compiler::Frame& frame) const noexcept override { return inner->hit(frame); }
  };
  const auto asked = std::make_shared<std::atomic<int>>(0);
  auto good = bench::policy_of(stopper);
  good->compile_in_background([&](const lang::Program& program) -> Result<std::unique_ptr<compiler::Executable>> {
    auto counting = std::make_unique<Counting>();
    counting->inner = compiler::evaluate(program);
    counting->asked = asked;
    return std::unique_ptr<compiler::Executable>(std::move(counting));
  });
  CHECK(good->wait_for_native());
  auto engine = LiveEngine::create(settings(1, 2), good);
  REQUIRE(engine);
  Driver driver(**engine, [](const std::string&, int sample) { return steady(4, sample); });
  CHECK(driver.run(0, prompts(1)).metrics.at("policy/decisions") == 1);
  CHECK(*asked == 2);  // the answer stops the group: considered beside others first, then given by who closes it

  auto bad = bench::policy_of(stopper);
  bad->compile_in_background([](const lang::Program&) -> Result<std::unique_ptr<compiler::Executable>> {
    return Error{"the compiler could not be loaded", ""};
  });
  CHECK_FALSE(bad->wait_for_native());
  auto fallback = LiveEngine::create(settings(1, 2), bad);
  REQUIRE(fallback);
  Driver second(**fallback, [](const std::string&, int sample) { return steady(4, sample); });
  const IterationReport report = second.run(0, prompts(1));
  CHECK(report.message.find("evaluator: the compiler could not be loaded") != std::string::npos);
  CHECK(second.stops.size() == 2);
  CHECK(second.run(1, prompts(1)).message.empty());  // told once
}

TEST_CASE("audit: a recorded frame gives the recorded rule again") {
  const char* const text = R"(
policy p
param level: real = 0.4
state looks: int per group = 0
on every turn of group g {
  remember looks = looks + 1
  let far = mean_pairwise(edit_distance, prefixes(g.actions, g.turn, unpadded))
  when (far ?? 9) < level * (1 + looks) and g.turn > 1 turn then stop, drop because "{looks} looks, {far}"
  when sum(r.tokens for r in g.rollouts) > 400 tokens then stop
  otherwise continue
}
)";
  const Folder folder;
  Settings made = settings(6, 4);
  made.run_folder = folder.path;
  const auto policy = bench::policy_of(text);
  auto engine = LiveEngine::create(made, policy);
  REQUIRE(engine);
  Driver driver(**engine, [](const std::string& prompt, int sample) {
    Course course = steady(12, sample % 2);
    for (std::size_t turn = 0; turn < 12; ++turn) {
      if ((turn * 7 + prompt.back() + static_cast<std::size_t>(sample)) % (1 + prompt.back() % 5) == 1) course.actions[turn] = fmt::format("a{}", sample);
    }
    return course;
  });
  driver.run(0, prompts(6));
  const lang::Program& program = policy->program();
  const lang::Handler& handler = program.handlers.front();
  int replayed = 0;
  std::set<int> rules;
  const auto cell = [](const nlohmann::ordered_json& value, const lang::Type& type) {
    if (value.is_null()) return lang::Cell::undefined();
    if (type.base == lang::Base::Real) return lang::Cell::of(value.get<double>());
    if (type.base == lang::Base::Bool) return lang::Cell::of(value.get<bool>());
    return lang::Cell::of(value.get<std::int64_t>());
  };
  const auto replay = [&](const nlohmann::ordered_json& reads, const nlohmann::ordered_json& columns,
                          const nlohmann::ordered_json& states, int rule) {
    std::vector<lang::Cell> read_cells;
    for (std::size_t i = 0; i < reads.size(); ++i) read_cells.push_back(cell(reads[i], handler.reads[i].type));
    std::vector<std::vector<lang::Cell>> column_cells(columns.size());
    std::vector<compiler::Column> views;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      for (const auto& value : columns[i]) column_cells[i].push_back(cell(value, handler.columns[i].type));
      views.push_back({column_cells[i].data(), static_cast<std::int64_t>(column_cells[i].size())});
    }
    std::int64_t sizes[lang::scope_count] = {};
    sizes[static_cast<int>(lang::Scope::Rollouts)] = 4;
    const lang::Cell before = cell(states[0][0], program.states[0].type);
    lang::Cell after = before;
    const compiler::StateView state{&before, &after, 1};
    compiler::Scratch scratch;
    const compiler::Frame frame{policy->parameters().data(), read_cells.data(), views.data(), sizes, &state, &scratch};
    Answer answer;
    answer.prepare(program, handler);
    compiler::evaluate(program)->decide(0, frame, answer.outcome);
    CHECK(answer.outcome.rule == rule);
    rules.insert(rule);
    ++replayed;
  };
  REQUIRE(read_journal(folder.path / "journal", [&](const nlohmann::ordered_json& record) {
    if (record.at("k") == "ask") replay(record.at("reads"), record.at("columns"), record.at("states"), record.at("r").get<int>());
    if (record.at("k") != "same") return;
    for (std::size_t i = 0; i < record.at("g").size(); ++i) {
      replay(record.at("reads")[i], record.at("columns")[i], record.at("states")[i], record.at("r").get<int>());
    }
  }));
  CHECK(replayed > 20);
  CHECK(rules.size() >= 2);
}

// Run by hand: engine_test "[.cost]" prints what a turn costs in the engine, with and without the journal.
TEST_CASE("cost of the engine a turn", "[.cost]") {
  const Folder folder;
  for (const bool journal : {false, true}) {
    Settings made = settings(8, 8);
    if (journal) made.run_folder = folder.path;
    auto engine = engine_of(R"(
policy selective_rollout
on turn 10 of group g {
  let divergence = mean_pairwise(normalized_edit_distance, prefixes(g.actions, 10, padded))
  when (divergence ?? 1.0) < 0.12 then stop, drop because "converged: divergence {divergence}"
  otherwise continue
}
)", made);
    Driver driver(*engine, [](const std::string&, int sample) {
      Course course = steady(30, sample % 2);
      for (int turn = 0; turn < 30; ++turn) course.actions[static_cast<std::size_t>(turn)] = fmt::format("go {}", (sample * turn) % 7);
      return course;
    });
    for (int iteration = 0; iteration < 20; ++iteration) driver.run(iteration, prompts(8));
    WARN(fmt::format("{}: {} turns, {:.3f} ms in the engine, {:.2f} us a turn", journal ? "journal" : "memory",
                     driver.turns, engine->seconds_spent() * 1e3, engine->seconds_spent() * 1e6 / driver.turns));
  }
}
