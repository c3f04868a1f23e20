// Scenarios over a pool: epochs, evicted prompts, categories. Expectations follow from the policies at hand, by hand.
#include "files.h"

using allot::trial::test::passes;
using allot::trial::test::run;

TEST_CASE("an epoch is over when the pool was drawn once") {
  passes(R"(policy epochs
state begun: epochs per run = 0
on update of batch b { remember begun = epoch }
on epoch of pool p { evict where q.groups >= 2 groups until epoch + 1 }
scenario "of two prompts" {
  pool a, b
  iteration { group a: rewards 1  expect begun == 0 }
  iteration { group b: rewards 1  expect begun == 0 }
  iteration { group a: rewards 1  expect begun == 1 }
  iteration { group b: rewards 1  expect begun == 1 }
}
)");
}

TEST_CASE("an evicted prompt is passed over until its epoch") {
  // The first two are drawn; a rests. In the second iteration it would be a's turn after c. Then all were drawn once.
  passes(R"(policy rest
hit when reward >= 1.0
on finish of group g {
  when g.misses == 0 then drop, evict until epoch + 1 because "solved"
  otherwise train
}
scenario "solved prompts rest" {
  pool a, b, c
  slots 2
  iteration {
    group a: rewards 1, 1
    group b: rewards 1, 0
    expect finish(a) is drop, evict until 1
  }
  iteration {
    group c: rewards 1, 0
    group b: rewards 0, 1
    expect trained == 2
  }
  iteration {
    group c: rewards 1, 0
    group a: rewards 1, 0
    expect a is trained
  }
}
)");
}

TEST_CASE("prompts of the pool have categories, and so does what is remembered of them") {
  // Two of three scores in algebra, none in geometry: 2 + 0, then 1 more of the next algebra prompt.
  passes(R"(policy kinds
hit when reward >= 1.0
state solved: rollouts per category = 0
on finish of group g { when solved[g.category] > 1 then drop because "known" }
on update of batch b {
  for each g in b.ended { remember solved[g.category] = solved[g.category] + g.hits }
}
scenario "by category" {
  pool a, b, c
  slots 2
  given category["a"] = "algebra"
  given category["b"] = "geometry"
  given category["c"] = "algebra"
  given solved["geometry"] = 1
  iteration {
    group a: rewards 1, 1, 0
    group b: rewards 0, 0, 0
    expect solved["algebra"] == 2 and solved["geometry"] == 1
  }
  iteration {
    group c: rewards 1, 0, 0
    group a: rewards 0, 0, 0
    expect c is dropped because "known"
    expect solved["algebra"] == 3
  }
}
)");
  const auto reports = run(R"(policy kinds
state solved: int per category = 0
on finish of group g { when solved[g.category] > 1 then drop }
scenario "without a pool" {
  given category["a"] = "algebra"
  iteration { group a: rewards 1, 0  expect a is trained }
}
)");
  REQUIRE(reports.size() == 1);
  CHECK(reports[0].error.find("`a` is no prompt of the pool") != std::string::npos);
}
