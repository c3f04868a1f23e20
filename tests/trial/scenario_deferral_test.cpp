// Scenarios in which groups wait for a later round. Expectations follow from the policies at hand, by hand.
#include "files.h"

using allot::trial::test::passes;
using allot::trial::test::run;

TEST_CASE("a deferred group is taken up by its keys, or waits") {
  // One slot, two pilots. b has the wider spread and is committed in the second round.
  passes(R"(policy waits
refill at most 2 rounds then train_partial
on select of pool p { take 2 * p.slots }
on size of batch b { start 2 each, up to 3 }
on wave 1 of group g { defer at most 1 iterations, refill }
on resume of group g by -(g.reward_std ?? 0) { complete to 3 }
scenario "over two iterations" {
  pool a, b, c, d
  iteration {
    group a: rewards 0.5, 0.25
    group b: rewards 1, 0, 1
    expect wave 1 (a) is defer at most 1 iterations, refill
    expect resume(b) is complete to 3
    expect a is deferred
    expect b is trained
    expect deferred == 2 and accepted == 3
  }
}
)");
}

TEST_CASE("a group that is taken up again is counted over its whole life") {
  // Two rollouts in the first iteration, in which b takes the slot. In the second none is started: it ends as it is.
  passes(R"(policy later
refill at most 2 rounds then train_partial
on select of pool p { take 2 * p.slots }
on wave 1 of group g { when g.scored == 1 then defer at most 2 iterations, refill }
on resume of group g by g.reward_mean ?? 0 { complete to 2 because "{g.scored} of {g.started}" }
scenario "it comes back" {
  iteration {
    group a: rewards 1, ?
    group b: rewards 1, 0
    expect a is deferred
    expect a.started == 2 and a.scored == 1
    expect b is trained
    expect b.scored == 2
  }
  iteration {
    group a: rewards 1
    expect resume(a) because "1 of 2"
    expect a.started == 2 and a.scored == 1 and a.stopped == 0
  }
}
)");
}

TEST_CASE("what is known of a closed group alone is asked of no other") {
  const auto reports = run(R"(policy waits
refill at most 2 rounds then train_partial
on select of pool p { take 2 * p.slots }
on wave 1 of group g { when g.scored == 1 then defer at most 2 iterations, refill }
on resume of group g by g.age { complete to 2 }
scenario "open" {
  iteration {
    group a: rewards 1, ?
    group b: rewards 1, 0
    expect a.round == 1
  }
}
)");
  REQUIRE(reports.size() == 1);
  REQUIRE(reports[0].expects.size() == 1);
  CHECK(reports[0].expects[0].got == "group a is not closed: it has no `round` yet");
}

TEST_CASE("a group that is taken up at once and ends in the same event is closed, not deferred") {
  // Its slot is filled again by those that wait, and that is a itself; nothing is started, so it ends.
  passes(R"(policy at_once
refill at most 2 rounds then train_partial
on wave 1 of group g { defer at most 2 iterations, refill }
on resume of group g by g.age { complete to 2 }
scenario "back in the next round" {
  iteration {
    group a: rewards 1, ?
    expect a is trained
    expect a.round == 2 and a.started == 2
  }
}
)");
}
