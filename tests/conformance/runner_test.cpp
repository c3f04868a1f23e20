#include "tests/conformance/runner.h"

#include <catch2/catch.hpp>
#include <stdexcept>

using namespace allot::conformance;

namespace {

Registry registry() {
  Registry known;
  known.add("twice", [](const Json& in) -> Json { return 2 * in.at("x").get<double>(); });
  known.add("throws", [](const Json&) -> Json { throw std::runtime_error("no"); });
  return known;
}

Json vector(const char* function, double expected) {
  return {{"id", "v"}, {"function", function}, {"inputs", {{"x", 2}}}, {"expected", expected}};
}

Report run(std::vector<Json> vectors) {
  Report report;
  run_vectors({{"vectors", std::move(vectors)}}, registry(), report);
  return report;
}

}  // namespace

TEST_CASE("a right answer passes, a wrong one and one that throws fail, an unknown function is skipped") {
  const Report report = run({vector("twice", 4), vector("twice", 5), vector("throws", 4), vector("unknown", 4)});
  CHECK(report.total().passed == 1);
  CHECK(report.total().failed == 2);
  CHECK(report.total().skipped == 1);
  CHECK(report.failures.size() == 2);
  CHECK(rendered(report).find("SKIPPED  unknown") != std::string::npos);
}

TEST_CASE("a run is good only if nothing failed, nothing required was skipped and enough passed") {
  const Demands demands{.required = {"twice", "need*"}, .minimum = 1};
  CHECK(complaints(run({vector("twice", 4)}), demands).empty());
  CHECK(complaints(run({vector("twice", 4), vector("unknown", 4)}), demands).empty());
  CHECK(complaints(run({vector("twice", 4), vector("twice", 5)}), demands).size() == 1);
  CHECK(complaints(run({vector("twice", 4), vector("needed", 4)}), demands).size() == 1);
  CHECK(complaints(run({}), demands).size() == 1);
}

TEST_CASE("a folder without vectors is an error and not a success") {
  CHECK_FALSE(run_folder(std::filesystem::path(ALLOT_SOURCE_DIR) / "tests" / "conformance", registry()));
  CHECK_FALSE(run_folder("/nonexistent", registry()));
}

TEST_CASE("the committed demands are read by subject") {
  const std::filesystem::path folder = std::filesystem::path(ALLOT_SOURCE_DIR) / "tests" / "conformance";
  const auto base = read_demands(folder, {"base"});
  const auto both = read_demands(folder, {"base", "training"});
  REQUIRE(base);
  REQUIRE(both);
  CHECK(both->required.size() > base->required.size());
  CHECK(both->minimum >= base->minimum);
  CHECK_FALSE(read_demands(folder, {}));
  CHECK_FALSE(read_demands("/nonexistent", {"base"}));
}

TEST_CASE("one function has one adapter") {
  Registry known = registry();
  CHECK_THROWS(known.add("twice", [](const Json&) -> Json { return 0; }));
}
