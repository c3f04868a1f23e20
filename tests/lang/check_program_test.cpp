// What a checked program says: its reads, its parameters, its shape.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "check_harness.h"
#include "lang/builtins.h"
#include "lang/codes.h"
#include "lang/facts.h"

using namespace allot::lang;
using allot::test::check;

namespace {

std::string file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

Program program(const std::string& text) {
  auto checked = check(text);
  INFO(checked.shown);
  REQUIRE(checked.program);
  return std::move(*checked.program);
}

}  // namespace

TEST_CASE("the policies of the library check without a word") {
  int count = 0;
  const auto folder = std::filesystem::path(ALLOT_SOURCE_DIR) / "stdlib";
  std::string all;  // those that are composed of others name them
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".allot") continue;
    all += "\n# file " + entry.path().filename().string() + "\n" + file(entry.path());
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".allot") continue;
    const auto checked = check(file(entry.path()) + all, entry.path().filename().string());
    INFO(checked.shown);
    CHECK(checked.program);
    CHECK(checked.codes.empty());
    ++count;
  }
  CHECK(count >= 4);
}

TEST_CASE("a program lists exactly what it reads") {
  const Program p = program(file(std::filesystem::path(ALLOT_SOURCE_DIR) / "stdlib/selective_rollout.allot"));
  REQUIRE(p.handlers.size() == 1);
  const Handler& handler = p.handlers[0];
  CHECK(handler.point == Point::Turn);
  CHECK(handler.text == "turn at of group g");
  REQUIRE(handler.number);
  CHECK(handler.number->kind == ReadArgument::Kind::Parameter);
  CHECK(handler.number->integer == 0);
  REQUIRE(handler.reads.size() == 1);
  CHECK(handler.columns.empty());
  const ReadKey& read = handler.reads[0];
  CHECK(read.fact == Fact::PairwiseMean);
  REQUIRE(read.arguments.size() == 3);
  CHECK(read.arguments[0].word == "normalized_edit_distance");
  CHECK(read.arguments[1].kind == ReadArgument::Kind::Parameter);
  CHECK(read.arguments[2].word == "padded");
  REQUIRE(handler.rules.size() == 2);
  CHECK(handler.rules[0].verdict.rollouts == RolloutsField::Stop);
  CHECK(handler.rules[0].verdict.group == GroupField::Drop);
  CHECK(handler.rules[1].condition == -1);
  CHECK(handler.rules[1].verdict.rollouts == RolloutsField::Continue);
  CHECK(handler.hole_count == 1);
}

TEST_CASE("a fact that is read twice is listed once") {
  const Program p = program(
      "policy p\non finish of group g { when g.scored < 2 and g.scored > 0 then drop\n"
      "when any(r.reward is undefined for r in g.rollouts) or mean(g.rewards) is undefined then train }");
  CHECK(p.handlers[0].reads.size() == 1);
  CHECK(p.handlers[0].columns.size() == 1);  // r.reward and g.rewards are one column
  CHECK(p.handlers[0].columns[0].fact == Fact::Reward);
  CHECK(p.handlers[0].columns[0].scope == Scope::Rollouts);
}

TEST_CASE("the hit condition reads what the environment gave") {
  const Program p = program("policy p\nhit when reward >= 1.0\non finish of group g { when g.hits > 0 then train }");
  REQUIRE(p.hit);
  REQUIRE(p.hit->effects.size() == 1);
  CHECK(p.hit->reads.size() == 2);
  CHECK(to_text(p.hit->nodes[static_cast<std::size_t>(p.hit->effects[0].value)].type) == "bool?");
}

TEST_CASE("every row of the tables is documented") {
  for (const FactRow& row : fact_rows()) {
    INFO(row.name << " " << static_cast<int>(row.fact));
    CHECK(row.doc.size() > 10);
    CHECK(row.doc.back() == '.');
    if (row.type.optional) CHECK(row.doc.find("undefined") != std::string_view::npos);
    if (!row.name.empty()) CHECK(find_fact(row.subject, row.name) == &row);
  }
  for (const Builtin& row : builtins()) {
    INFO(row.name);
    CHECK(find_builtin(row.name) == &row - builtins().data());
    CHECK(row.doc.size() > 10);
    CHECK(row.doc.back() == '.');
    if (row.result_optional) CHECK(row.doc.find("undefined") != std::string_view::npos);
  }
  CHECK(find_builtin("nothing") == -1);
  CHECK(find_fact(Subject::Group, "nothing") == nullptr);
  CHECK(find_fact(Subject::Group, "") == nullptr);
}

TEST_CASE("the wrong program of a page of the checker gives its code, the right one none") {
  using Codes = std::set<std::string>;
  for (const Code& code : check_codes()) {
    INFO(code.code);
    CHECK(code.explanation.size() > 20);
    CHECK_FALSE(code.wrong.empty());
    const auto wrong = check(example(code.wrong));
    const auto right = check(example(code.right));
    INFO(wrong.shown << "\n" << right.shown);
    CHECK(Codes(wrong.codes.begin(), wrong.codes.end()) == Codes{std::string(code.code)});
    CHECK(right.codes.empty());
  }
}

TEST_CASE("the right program of every page checks without its code, save that there is nothing to do in it") {
  // A page of syntax may show declarations alone, which are then unused.
  for (const Code* code : all_codes()) {
    const auto right = check(example(code->right));
    INFO(code->code << "\n" << right.shown);
    CHECK(right.codes.count(std::string(code->code)) == 0);
    for (const std::string& other : right.codes) CHECK(other == "W0501");
    CHECK(right.program);
    CHECK(check(example(code->wrong)).codes.count(std::string(code->code)) >= 1);
  }
}

TEST_CASE("bind gives defaults, takes overrides and refuses what does not fit") {
  const Program p = program(
      "policy p\nparam at: turns = 10\nparam threshold: real = 0.12 in 0..1\nparam eager: bool = false\nparam n: int = "
      "5 in 1..9\n"
      "on turn at of group g { when eager and threshold < 0.5 and n > 3 then stop }");
  const auto defaults = bind(p, {});
  REQUIRE(defaults);
  CHECK((*defaults)[0] == Cell::of(std::int64_t{10}));
  CHECK((*defaults)[1] == Cell::of(0.12));
  const auto given = bind(p, {{"at", "15 turns"}, {"threshold", "25%"}, {"eager", "true"}, {"n", "9"}});
  REQUIRE(given);
  CHECK((*given)[0] == Cell::of(std::int64_t{15}));
  CHECK((*given)[1] == Cell::of(0.25));
  CHECK((*given)[2] == Cell::of(true));
  CHECK(value(*p.handlers[0].number, *given) == 15);
  const auto refused = [&](const std::string& name, const std::string& text) {
    const auto result = bind(p, {{name, text}});
    INFO(name << "=" << text);
    REQUIRE_FALSE(result);
    return result.error().text();
  };
  CHECK(refused("threshhold", "0.1").find("`threshold`") != std::string::npos);
  CHECK(refused("threshold", "1.5").find("0..1") != std::string::npos);
  CHECK(refused("threshold", "nan").find("finite") != std::string::npos);
  CHECK(refused("threshold", "inf").find("finite") != std::string::npos);
  CHECK(refused("threshold", "0.1x").find("finite") != std::string::npos);
  CHECK(refused("n", "10").find("1..9") != std::string::npos);
  CHECK(refused("n", "2.5").find("whole") != std::string::npos);
  CHECK(refused("n", "99999999999999999999").find("64 bits") != std::string::npos);
  CHECK(refused("n", "").find("whole") != std::string::npos);
  CHECK(refused("at", "15 tokens").find("turns") != std::string::npos);
  CHECK(refused("at", "0").find("at least 1") != std::string::npos);
  CHECK(refused("eager", "yes").find("`true`") != std::string::npos);
}

TEST_CASE("values are shown with the digits that read back") {
  const Type real;
  Type integer;
  integer.base = Base::Int;
  Type boolean;
  boolean.base = Base::Bool;
  Type belief;
  belief.base = Base::Beta;
  CHECK(show(Cell::of(0.104), real) == "0.104");
  CHECK(show(Cell::of(0.1 + 0.2), real) == "0.30000000000000004");
  CHECK(show(Cell::of(2.0), real) == "2");
  CHECK(show(Cell::of(std::int64_t{-3}), integer) == "-3");
  CHECK(show(Cell::of(true), boolean) == "true");
  CHECK(show(Cell::beta(2, 3), belief) == "beta(2, 3)");
  CHECK(show(Cell::undefined(), real) == "undefined");
}

TEST_CASE("one expression is a program with one report") {
  const auto ask = [](const std::string& text) {
    Diagnostics diagnostics;
    return check_expression(std::make_shared<const Source>("expression", text), diagnostics);
  };
  const auto p = ask("flat_prob(0.5, 8)");
  REQUIRE(p);
  CHECK(p->reports == std::vector<std::string>{"value"});
  CHECK(p->handlers.at(0).effects.size() == 1);
  CHECK(ask("1 +") == std::nullopt);
  CHECK(ask("g.hits") == std::nullopt);
  CHECK(ask("1 / 0") == std::nullopt);
  CHECK(ask("iteration") == std::nullopt);
}

TEST_CASE("verdicts and answers keep what was written, each operand over its own scope") {
  const Program p = program(R"(policy p
hit when reward >= 1.0
state hard: real per category = 0.5
on select of pool p { take 2 * p.slots by hard[q.category] + draw("order") }
on turn 10 of group g, ahead: run { continue }
on every 256 tokens of rollout r { branch 2 }
on wave of batch b { sample [if g.hits < 1 then 2 else 0 for g in b.groups] more }
on wave 2 of batch b { stop }
on resume of group g by -(g.reward_std ?? 0), g.age { complete to 8 }
on shape of micro_batch b { set advantages = b.advantages, set weights = b.turns / 1 turn, set baseline = 0.5 }
on replay of batch b { replay up to b.empty by g.age, max_age 4 iterations }
on epoch of pool p { evict where q.seen until epoch + 1, readmit where q.evicted }
)");
  REQUIRE(p.handlers.size() == 9);
  const auto verdict = [&](std::size_t i) { return p.handlers[i].rules.at(0).verdict; };
  const auto type = [&](std::size_t i, NodeId id) { return p.handlers[i].nodes.at(static_cast<std::size_t>(id)).type; };
  CHECK(p.handlers[0].subject == Subject::Pool);
  CHECK(verdict(0).take == Take::Best);
  CHECK(type(0, verdict(0).scores).scope == Scope::Pool);
  // One draw a prompt, and the category under which its state is read.
  REQUIRE(p.handlers[0].columns.size() == 2);
  CHECK(p.handlers[0].columns[0].fact == Fact::PromptCategory);
  CHECK(p.handlers[0].columns[1].fact == Fact::Draw);
  CHECK(p.handlers[0].columns[1].scope == Scope::Pool);
  CHECK(p.handlers[1].ahead_runs);
  CHECK(p.handlers[2].point == Point::Tokens);
  CHECK(p.handlers[2].every);
  CHECK(p.handlers[2].number->integer == 256);
  CHECK(verdict(2).rollouts == RolloutsField::Branch);
  CHECK(type(3, verdict(3).amount).scope == Scope::Groups);
  CHECK(verdict(4).rollouts == RolloutsField::Stop);
  REQUIRE(p.handlers[5].keys >= 0);
  CHECK(p.handlers[5].text == "resume of group g by -(g.reward_std ?? 0), g.age");
  CHECK(p.handlers[5].nodes[static_cast<std::size_t>(p.handlers[5].keys)].args.size() == 2);
  CHECK(type(6, verdict(6).advantages).scope == Scope::Trained);
  CHECK(type(6, verdict(6).weights).base == Base::Real);
  CHECK_FALSE(type(6, verdict(6).baseline).vector());
  CHECK(type(7, verdict(7).scores).scope == Scope::Stored);
  CHECK(p.handlers[7].nodes[static_cast<std::size_t>(verdict(7).age_limit)].cell.integer() == 4);
  CHECK(verdict(8).prompt == PromptField::Evict);
  CHECK(type(8, verdict(8).mask).scope == Scope::Pool);
  CHECK(type(8, verdict(8).until).scope == Scope::Pool);
  CHECK(verdict(8).readmits);
  CHECK(type(8, verdict(8).readmitted).scope == Scope::Known);
}
