// Which rules tests reach where several files make one policy. What is expected is counted by hand from the texts.
#include "runtime/trial/coverage.h"

#include "files.h"

using namespace allot;
namespace test = allot::trial::test;

namespace {

struct Row {
  std::string file;
  int line;
  std::string point;
  int times;
  friend bool operator==(const Row&, const Row&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Row& row) {
    return out << row.file << ":" << row.line << " " << row.point << " " << row.times;
  }
};

std::vector<Row> rows(const std::string& text) {
  const auto program = test::program_of(text);
  std::vector<Row> found;
  for (const trial::RuleCoverage& rule : trial::coverage(*program, trial::run(*program))) {
    found.push_back({rule.file, rule.line, rule.point, rule.times});
  }
  return found;
}

}  // namespace

TEST_CASE("each rule of a member counts once, wherever it held") {
  // By hand: [1, 1] is flat and few, [1, 1, 1] flat, [1, 0, 0] neither. That both first rules hold and that none does
  // are no rules of their own.
  CHECK(rows(R"(policy both = gate then few
test "few" { given g = group { rewards: [1, 0] }  expect finish(g) is drop }
test "flat" { given g = group { rewards: [1, 1, 1] }  expect finish(g) is drop }
test "neither" { given g = group { rewards: [1, 0, 0] }  expect finish(g) is train }
# file gate.allot
policy gate
on finish of group g {
  when g.flat then drop
  otherwise train
}
# file few.allot
policy few
on finish of group h {
  when h.scored < 3 then drop
  otherwise train
}
)") == std::vector<Row>{{"gate.allot", 3, "on finish of group g", 1},
                        {"gate.allot", 4, "on finish of group g", 2},
                        {"few.allot", 3, "on finish of group h", 1},
                        {"few.allot", 4, "on finish of group h", 2}});
}

TEST_CASE("a rule that says nothing counts where it held, and one that nothing reaches is named with its file") {
  CHECK(rows(R"(policy three = first then second then third
test "second" { given g = group { rewards: [0, 1] }  expect finish(g) is drop because "two" }
# file first.allot
policy first
on finish of group g {
  when g.scored > 5 then drop because "one"
  otherwise train
}
# file second.allot
policy second
on finish of group g { when g.scored == 2 then drop because "two" }
# file third.allot
policy third
on finish of group g { train top(g.rewards, 1) }
)") == std::vector<Row>{{"first.allot", 3, "on finish of group g", 0},
                        {"first.allot", 4, "on finish of group g", 1},
                        {"second.allot", 2, "on finish of group g", 1},
                        {"third.allot", 2, "on finish of group g", 1}});
}

TEST_CASE("rules of a turn that may meet another stand once, not once a meeting") {
  // `turn at` and `turn 5` have three handlers: both where `at` is 5, and each alone.
  CHECK(rows(R"(policy meet = one then two
test "both" {
  with one.at = 5
  given g = group { actions: [["a"] * 5] * 2, turn: 5 }
  expect turn(g) is stop, drop because "one; two"
}
test "one" {
  given g = group { actions: [["a"] * 4] * 2, turn: 4 }
  expect turn(g) is stop because "one"
}
# file one.allot
policy one
param at: turns = 4
on turn at of group g {
  when g.alive > 1 then stop because "one"
  otherwise continue
}
# file two.allot
policy two
on turn 5 of group g {
  when g.alive > 1 then stop, drop because "two"
  otherwise continue
}
)") == std::vector<Row>{{"one.allot", 4, "on turn at of group g", 2},
                        {"one.allot", 5, "on turn at of group g", 0},
                        {"two.allot", 3, "on turn 5 of group g", 1},
                        {"two.allot", 4, "on turn 5 of group g", 0}});
}

TEST_CASE("a composition's own rules, and members that are compositions themselves") {
  CHECK(rows(R"(policy outer = inner
on finish of group g { when g.started > 4 then drop }
test "all" { given g = group { rewards: [0, 0, 1, 1, 1] }  expect finish(g) is drop }
# file inner.allot
policy inner = a then b
# file a.allot
policy a
on finish of group g { when g.flat then drop }
# file b.allot
policy b
on finish of group g { when g.scored < 2 then drop }
)") == std::vector<Row>{{"test.allot", 2, "on finish of group g", 1},
                        {"a.allot", 2, "on finish of group g", 0},
                        {"b.allot", 2, "on finish of group g", 0}});
}
