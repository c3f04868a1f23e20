// Conditions of tests are handlers that stand in no file.
#include "runtime/trial/condition.h"

#include "files.h"

using namespace allot;
using allot::trial::test::run;

TEST_CASE("what a failed condition shows are values, not places that no file has") {
  const auto reports = run("policy p\non finish of group g { train }\n"
                           "test \"t\" {\n  given g = group { rewards: [1, 0] }\n  expect g.scored == 3\n"
                           "  expect (g.reward_mean ?? 0) / (g.scored - 2 rollouts) * 1 rollouts > 0\n}\n");
  REQUIRE(reports.size() == 1);
  REQUIRE(reports[0].expects.size() == 2);
  CHECK(reports[0].expects[0].got == "false");
  CHECK(reports[0].expects[0].trace == "g.scored = 2\n");
  CHECK(reports[0].expects[1].got.starts_with("fault: "));
  CHECK(reports[0].expects[1].got.find(".allot:") == std::string::npos);
}

TEST_CASE("what is wrong with a condition is told without a place that no file has") {
  const auto reports = run("policy p\non finish of group g { train }\n"
                           "test \"t\" {\n  given g = group { rewards: [1, 0] }\n  expect g.scord == 3\n"
                           "  expect g.tokens > 5 rollouts\n}\n");
  REQUIRE(reports.size() == 1);
  REQUIRE(reports[0].expects.size() == 2);
  for (const auto& [expect, words] : {std::pair{0, "did you mean"}, std::pair{1, "tokens"}}) {
    const std::string& got = reports[0].expects[static_cast<std::size_t>(expect)].got;
    INFO(got);
    CHECK(got.starts_with("the condition cannot be checked:\nerror[E"));
    CHECK(got.find(words) != std::string::npos);
    CHECK(got.find(".allot:") == std::string::npos);
  }
}
