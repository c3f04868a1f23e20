// What `shape` leaves in the journal: matrices as they were read, and no question that was refused.
#include <limits>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "runtime/engine/replaying.h"
#include "tests/engine/bench.h"
#include "tests/engine/chained_run.h"
#include "tests/engine/journal_lines.h"

using namespace allot;
using namespace allot::engine;
using bench::contains;
using bench::Course;
using bench::Driver;
using bench::engine_of;
using bench::Folder;
using bench::prompts;
using bench::settings;
using bench::steady;
using Json = nlohmann::ordered_json;

namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
constexpr double endless = std::numeric_limits<double>::infinity();

Course mixed(const std::string&, int sample) { return steady(1, sample % 2); }

ReplayResult replay(const Folder& folder) {
  auto result = replay_run(folder.path());
  if (!result) FAIL(result.error().text());
  return *std::move(result);
}

const char* const geometry = R"(
policy geometry
on finish of group g { train }
on shape of group g { set advantages = gram(g.embeddings) * [1.0 for r in g.rollouts] }
on shape of micro_batch b { set advantages = b.gram * b.advantages }
)";

// One iteration of one group of two: asked at its end, of its embeddings and of the Gram matrix.
void play_geometry(const Folder& folder, const std::vector<double>& embeddings, const std::vector<double>& gram) {
  Settings made = settings(1, 2);
  made.run_folder = folder.path();
  auto engine = engine_of(geometry, made);
  Driver driver(*engine, mixed);
  driver.generate(0, prompts(1));
  MicroBatch group{{{0, 0}, {0, 1}}, {0.5, 0.25}, {}};
  group.embeddings = embeddings;
  REQUIRE(engine->shape_group(group));
  REQUIRE(engine->shape({{{0, 0}, {0, 1}}, {2.0, -1.0}, gram}));
  REQUIRE(engine->end_iteration());
}

}  // namespace

TEST_CASE("matrices of any width and with any number are asked again as they were read") {
  const std::vector<std::vector<double>> embeddings{{1, 2}, {1, 2, 3, -1}, {1, 2, 3, 4, 5, 6}, {no_number, 1, endless, 2}, {}};
  const std::vector<std::vector<double>> grams{{4, 1, 1, 3}, {no_number, 1, 1, no_number}, {endless, 1, 1, -endless}, {1e308, 1e308, 1, 1}, {}};
  for (std::size_t i = 0; i < grams.size(); ++i) {
    INFO(i);
    const Folder folder;
    play_geometry(folder, embeddings[i], grams[i]);
    const AuditResult audited = bench::audit(folder.path());
    if (audited.first) FAIL(audited.first->point << ' ' << audited.first->member << ": " << audited.first->recorded << " / " << audited.first->again);
    CHECK(audited.good());
    CHECK(audited.audited == 3);  // the end of the group, and each `shape` once
    CHECK(replay(folder).differing == 0);
  }
}

TEST_CASE("a matrix that was changed gives another answer, and one of another size is no answer's") {
  const Folder folder;
  play_geometry(folder, {1, 2, 3, -1}, {4, 1, 1, 3});
  const std::vector<std::string> lines = bench::lines_of(folder.segment(1));
  int tried = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Json record = Json::parse(lines[i]);
    if (record.at("k") != "ask" || record.at("g") != -1) continue;  // of the micro-batch
    for (std::size_t column = 0; column < record.at("columns").size(); ++column) {
      if (record.at("columns")[column].size() != 4) continue;
      const auto audited_with = [&](const Json& cells) {
        Json changed = record;
        changed["columns"][column] = cells;
        std::vector<std::string> written = lines;
        written[i] = bench::sealed(changed);
        bench::write_lines(folder.segment(1), written);
        return bench::audit(folder.path());
      };
      // (4, 1; 1, 3) times (2, -1) is (7, -1), with 5 in the corner (9, -1).
      const AuditResult other = audited_with({5.0, 1.0, 1.0, 3.0});
      REQUIRE(other.first);
      CHECK(other.differing == 1);
      CHECK(contains(other.first->recorded, "[7, -1]"));
      CHECK(contains(other.first->again, "[9, -1]"));
      for (const Json& cells : {Json{4.0, 1.0, 1.0}, Json{4.0, 1.0}, Json{4.0, 1.0, 1.0, 3.0, 1.0, 1.0}}) {
        const AuditResult cut = audited_with(cells);
        REQUIRE(cut.first);
        CHECK(cut.first->member == "reads");
        CHECK(contains(cut.first->again, "has not the size of its scope"));
      }
      ++tried;
    }
  }
  CHECK(tried == 1);
}

TEST_CASE("questions before the loss that are refused are no events: the run plays again without them") {
  const Folder folder;
  Settings made = settings(1, 2);
  made.run_folder = folder.path();
  {
    auto engine = engine_of(R"(
policy doubling
on shape of group g { set advantages = [(a ?? 0) * 2 for a in g.advantages] }
on shape of micro_batch b { set advantages = b.advantages * 3 }
)", made);
    const MicroBatch whole{{{0, 0}, {0, 1}}, {1.0, 2.0}, {}};
    MicroBatch torn = whole;
    torn.embeddings = {1, 2, 3};
    Driver driver(*engine, mixed);
    driver.generate(0, prompts(1));
    CHECK_FALSE(engine->shape_group({{{0, 0}, {0, 7}}, {1.0, 2.0}, {}}));
    CHECK_FALSE(engine->shape_group({{{0, 0}, {0, -1}}, {1.0, 2.0}, {}}));
    CHECK_FALSE(engine->shape_group({{{9, 0}, {9, 1}}, {1.0, 2.0}, {}}));
    CHECK_FALSE(engine->shape_group(torn));
    CHECK_FALSE(engine->shape({{{0, 0}, {9, 7}}, {1.0, 2.0}, {}}));
    CHECK_FALSE(engine->shape({{{0, 0}, {0, -1}}, {1.0, 2.0}, {}}));
    CHECK_FALSE(engine->shape({{{0, 0}, {0, 1}}, {1.0, 2.0}, {1, 2, 3}}));
    CHECK(engine->shape_group(whole)->advantages == std::vector<double>{2.0, 4.0});
    CHECK(engine->shape(whole)->advantages == std::vector<double>{3.0, 6.0});
    REQUIRE(engine->end_iteration());
    for (const auto& late : {engine->shape_group(whole), engine->shape(whole)}) {
      REQUIRE_FALSE(late);
      CHECK(contains(late.error().what, "no iteration is under way"));
    }
    driver.run(1, prompts(1));
  }
  CHECK(bench::audit(folder.path()).good());
  const ReplayResult replayed = replay(folder);
  CHECK(replayed.differing == 0);
  CHECK(replayed.iterations == 2);
  CHECK(replayed.events == 4 + 2 + 4);  // a turn and an end of each of two rollouts, twice; two questions
}

// The gradients of salt-1, as in the tests of that file.
TEST_CASE("SALT of the standard library is asked again and plays again") {
  const Folder folder;
  Settings made = settings(1, 4);
  made.run_folder = folder.path();
  {
    auto engine = engine_of(bench::read_file(ALLOT_SOURCE_DIR "/stdlib/salt.allot"), made);
    Driver driver(*engine, mixed);
    driver.generate(0, prompts(1));
    const double one = 0.8660254037844386;
    REQUIRE(engine->shape({{{0, 0}, {0, 1}, {0, 2}, {0, 3}},
                           {one, one, -one, -one},
                           {5, 4, -0.75, 1.5, 4, 3.5, 0, 1, -0.75, 0, 1.3125, -0.625, 1.5, 1, -0.625, 3.25}}));
    REQUIRE(engine->end_iteration());
  }
  const AuditResult audited = bench::audit(folder.path());
  if (audited.first) FAIL(audited.first->member << ": " << audited.first->recorded << " / " << audited.first->again);
  CHECK(audited.good());
  CHECK(audited.audited == 1);
  CHECK(replay(folder).differing == 0);
}
