// A run that an older program saved goes on: its text, `allot-state/3`, is still read.
#include <algorithm>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "tests/engine/bench.h"
#include "tests/engine/folder.h"

using namespace allot;
using namespace allot::engine;
using bench::Driver;

namespace {

const char* const policy = R"(policy old
hit when reward >= 1
state belief: beta per prompt = beta(1, 1) decay 0.9
state trace: real per prompt = 0.0 decay 0.7
state level: real per category = 0.25 decay 0.5
state seen: groups per run = 0
refill at most 2 rounds then train_partial
on size of batch b { start 2 each, up to 4 }
on wave 1 of group g {
  when (g.hit_rate ?? 0) >= 1.0 then stop, drop, refill, evict until epoch + 2 because "{level[g.category]}"
  otherwise complete to 4
}
on finish of group g {
  when g.flat then drop because "{belief[g.prompt]} {level[g.category]}"
  otherwise train because "{trace[g.prompt]} {level[g.category]}"
}
on update of batch b {
  for each g in b.ended {
    remember belief[g.prompt] = observe(belief[g.prompt], g.hits, g.misses)
    remember level[g.category] = level[g.category] + 0.125
  }
  remember seen = seen + b.size
}
on update of pool p {
  for each q in p.known { remember trace[q] = trace[q] + (q.hit_rate ?? 0) }
}
)";

// Three iterations, saved by the last program that wrote a run's state as one text at every barrier (commit 72749d0).
const char* const saved =
    R"({"schema":"allot-state/3","policy":"0b6555e738128d927de68aaa14244f630f85aa3fdb7cd52a4ab91459f6512003","itera)"
    R"(tion":2,"next_group":11,"prompts":{"p0":[[[4613082134311872758,4613082134311872758,1]],[[4607610260764617605)"
    R"(,0,1]],[[4598175219545276416,0,1]],[[0,0,1]]],"p1":[[[4613082134311872758,4607182418800017408,1]],[[46121138)"
    R"(60391988101,0,1]],[[4598175219545276416,0,1]],[[0,0,1]]],"p2":[[[4618925554828385976,4613509976276472955,1]])"
    R"(,[[4610075981560602951,0,1]],[[4598175219545276416,0,1]],[[0,0,1]]],"p3":[[[4613487458278336102,461348745827)"
    R"(8336102,1]],[[4605831338911806259,0,1]],[[4598175219545276416,0,1]],[[0,0,1]]],"p4":[[[4613082134311872758,4)"
    R"(607182418800017408,1]],[[4612113860391988101,0,1]],[[4598175219545276416,0,1]],[[0,0,1]]],"p5":[[[4615514078)"
    R"(110652826,4611235658464650854,1]],[[4608420908697544294,0,1]],[[4598175219545276416,0,1]],[[0,0,1]]],"p6":[[)"
    R"([4617090337980232499,4617090337980232499,1]],[[4605831338911806259,0,1]],[[4598175219545276416,0,1]],[[0,0,1)"
    R"(]]],"p7":[[[4613937818241073152,4607182418800017408,1]],[[4607182418800017408,0,1]],[[4598175219545276416,0,)"
    R"(1]],[[0,0,1]]],"p8":[[[4616189618054758400,4611686018427387904,1]],[[4604930618986332160,0,1]],[[45981752195)"
    R"(45276416,0,1]],[[0,0,1]]]},"categories":{"":[[[4607182418800017408,4607182418800017408,1]],[[0,0,1]],[[46074)"
    R"(63893776728064,0,1]],[[0,0,1]]]},"run_state":[[[4607182418800017408,4607182418800017408,1]],[[0,0,1]],[[4598)"
    R"(175219545276416,0,1]],[[11,0,1]]],"histories":{"p0":[1,0,4,4,2,2,4,2,0.5,1.0,0,0,true],"p1":[1,1,2,2,2,0,2,2)"
    R"(,1.0,0.0,0,2,true],"p2":[2,0,8,8,6,2,4,3,0.75,1.5,2,0,true],"p3":[1,0,4,4,2,2,4,2,0.5,1.0,1,0,true],"p4":[1,)"
    R"(1,2,2,2,0,2,2,1.0,0.0,0,2,true],"p5":[1,0,4,4,3,1,4,3,0.75,0.7500000000000001,1,0,true],"p6":[2,0,8,8,4,4,4,)"
    R"(2,0.5,2.0,2,0,true],"p7":[1,1,2,2,2,0,2,2,1.0,0.0,2,2,true],"p8":[1,0,4,4,3,1,4,3,0.75,0.7500000000000001,2,)"
    R"(0,true]},"epoch":[0,11],"accounts":[],"conservation":[38,32,6,0,0,0],"ledger_begun":true,"holdout":[0,0],"pa)"
    R"(used":false,"run":{"scored":38,"hits":26,"most_reward":1.0,"warned_without_hits":false,"asked":true,"first_i)"
    R"(teration_over":true,"skipped_updates":0},"versions":{"number":0,"next":1,"parameters":{},"canary":[],"before)"
    R"(":[]},"waiting":[],"stored":[],"crc":"aab99e4c"})";

// What that program itself decided afterwards, without having been interrupted.
const std::vector<std::string> decided = {"11 p0 trained 1.095 1.0625",     "12 p2 trained 1.6424999999999998 1.0625",
                                          "13 p3 trained 0.85 1.0625",      "14 p3 trained 1.095 1.03125",
                                          "15 p5 trained 1.6424999999999998 1.03125", "16 p6 trained 1.095 1.03125",
                                          "17 p6 trained 1.2665 1.015625",  "18 p8 trained 1.6424999999999998 1.015625",
                                          "19 p0 trained 1.38655 1.015625"};

bench::Course course_of(const std::string& prompt, int sample) {
  return bench::steady(1, (prompt.back() + sample) % 3 == 0 ? 0.0 : 1.0);
}

std::vector<std::string> play(Engine& engine) {
  std::vector<std::string> told;
  for (int iteration = 3; iteration < 6; ++iteration) {
    Driver driver(engine, course_of);
    std::vector<std::string> order;
    for (int i = 0; i < 9; ++i) order.push_back(fmt::format("p{}", (iteration * 3 + i) % 9));
    driver.run(iteration, order);
    for (const GroupResult& group : driver.closed) {
      told.push_back(fmt::format("{} {} {} {}", group.group, group.prompt, group.fate == Fate::Trained ? "trained" : "dropped", group.reason));
    }
  }
  std::sort(told.begin(), told.end());
  return told;
}

}  // namespace

TEST_CASE("a state that an older program wrote gives the decisions of that program") {
  auto engine = bench::engine_of(policy, bench::settings(3, 4));
  if (auto restored = engine->restore(saved); !restored) FAIL(restored.error().text());
  CHECK(play(*engine) == decided);
}

TEST_CASE("… and so does its run folder, whose state.json is that text") {
  const bench::Folder folder;
  std::filesystem::create_directories(folder.path());
  bench::write_file(folder.path() / "state.json", saved);
  auto engine = bench::engine_of(policy, bench::settings(3, 4));
  if (auto restored = engine->restore_from(folder.path()); !restored) FAIL(restored.error().text());
  CHECK(play(*engine) == decided);
}
