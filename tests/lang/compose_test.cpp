// Policies of several files: how names become files, what functions of other files see, how members become one program.
#include "lang/compose/library.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>


#include "check_harness.h"
#include "lang/program.h"
#include "tests/folder.h"

using namespace allot;
using allot::test::check;
using allot::test::Folder;
using Codes = std::multiset<std::string>;

namespace {

namespace fs = std::filesystem;

const std::string gate = "\n# file gate.allot\npolicy gate\nparam least: rollouts = 2\nstate seen: int per prompt = 0\n"
                         "on finish of group g { when g.scored < least then drop because \"few\" }\n"
                         "on update of batch b { for each g in b.ended { remember seen[g.prompt] = seen[g.prompt] + 1 } "
                         "report batches = 1 }\n";
const std::string pick = "\n# file pick.allot\npolicy pick\nparam kept: rollouts = 16\n"
                         "on finish of group g { train top(g.rewards, kept) }\n"
                         "on update of batch b { report batches = 2 }\n";

struct OfFiles {
  std::optional<lang::Program> program;
  std::shared_ptr<const lang::Source> source;
  std::string shown;
};

OfFiles check_file(const fs::path& path, std::vector<fs::path> folders = {}) {
  std::ifstream stream(path);
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  OfFiles result;
  result.source = std::make_shared<const lang::Source>(path.string(), text);
  lang::Diagnostics diagnostics;
  result.program = lang::check(result.source, diagnostics, std::make_shared<lang::SearchPath>(std::move(folders)));
  result.shown = lang::render_all(diagnostics, *result.source);
  return result;
}

}  // namespace

TEST_CASE("a function of another file is called by the file's name and its own") {
  const auto checked = check("policy p\nimport team.gates as gates\nimport plain\n"
                             "on finish of group g { when gates.few(g.scored) and plain.twice(g.reward_mean ?? 0) > 0.5 then drop }\n"
                             "# file team.gates.allot\npolicy gates\nimport plain\nfn few(n: rollouts) -> bool = n < least() "
                             "and plain.twice(0.1) > 0\nfn least() -> rollouts = 2\n"
                             "# file plain.allot\npolicy plain\nfn twice(x: real) -> real = 2 * x\n");
  INFO(checked.shown);
  REQUIRE(checked.program);
  CHECK(checked.codes.empty());
  CHECK(checked.program->source->file_count() == 3);
}

TEST_CASE("a function of another file sees its arguments and its file's functions, nothing else") {
  // `scale` is a parameter here and there; neither is an argument.
  CHECK(check("policy p\nparam scale: real = 2\nimport other\n"
              "on finish of group g { when other.f(g.reward_mean ?? 0) > scale then drop }\n"
              "# file other.allot\npolicy other\nparam scale: real = 3\nfn f(x: real) -> real = scale * x\n")
            .codes == Codes{"E0101"});
  // Nor does a call of a function that only the importing file has find it by chance.
  CHECK(check("policy p\nimport other\nfn g(x: real) -> real = x\n"
              "on finish of group h { when other.f(h.reward_mean ?? 0) > g(0.5) then drop }\n"
              "# file other.allot\npolicy other\nfn f(x: real) -> real = g(x)\n")
            .codes == Codes{"E0106"});
}

TEST_CASE("a mistake in another file is shown there") {
  const auto checked = check("policy p\nimport other\non finish of group g { when other.f(g.reward_mean ?? 0) > 1 then drop }\n"
                             "# file other.allot\npolicy other\n\nfn f(x: real) -> real = x +\n");
  CHECK(checked.shown.find("--> other.allot:3:") != std::string::npos);
  const auto broken = check("policy p = other\n# file other.allot\npolicy other\non finish of group g { when g.flat drop }\n");
  CHECK(broken.shown.find("--> other.allot:2:") != std::string::npos);
}

TEST_CASE("an import that nothing uses, and two of one name, are told") {
  const std::string other = "# file other.allot\npolicy other\nfn f(x: real) -> real = x\n";
  CHECK(check("policy p\nimport other\non finish of group g { train }\n" + other).codes == Codes{"W0501"});
  CHECK(check("policy p\nimport other as min\non finish of group g { when min.f(g.reward_mean ?? 0) > 1 then drop }\n" + other)
            .codes == Codes{"E0103"});
  CHECK(check("policy p\nimport other\nimport other as other\non finish of group g { when other.f(g.reward_mean ?? 0) > 1 then drop }\n" +
              other)
            .codes == Codes{"E0102"});
}

TEST_CASE("the members' declarations keep their values under the members' names") {
  const auto checked = check("policy team = gate(least: 3 rollouts) then pick" + gate + pick);
  INFO(checked.shown);
  REQUIRE(checked.program);
  const lang::Program& program = *checked.program;
  REQUIRE(program.parameters.size() == 2);
  CHECK(program.parameters[0].name == "gate.least");
  CHECK(program.parameters[0].value.integer() == 3);
  CHECK(program.parameters[1].name == "pick.kept");
  CHECK(program.parameters[1].value.integer() == 16);
  REQUIRE(program.states.size() == 1);
  CHECK(program.states[0].name == "gate.seen");
  CHECK(program.reports == std::vector<std::string>{"gate.batches", "pick.batches"});
  REQUIRE(program.handlers.size() == 2);  // finish and update, both joined
  const auto bound = lang::bind(program, {{"gate.least", "4"}});
  REQUIRE(bound);
  CHECK((*bound)[0].integer() == 4);
  CHECK_FALSE(lang::bind(program, {{"least", "4"}}));
}

TEST_CASE("a rule of a composition tells all rules that it stands for") {
  const auto checked = check("policy team = gate then pick" + gate + pick);
  REQUIRE(checked.program);
  const lang::Handler& finish = checked.program->handlers[0].point == lang::Point::Finish
                                    ? checked.program->handlers[0]
                                    : checked.program->handlers[1];
  // `when few`, with what pick says beside it; then pick alone.
  REQUIRE(finish.rules.size() == 2);
  REQUIRE(finish.rules[0].origins.size() == 2);
  const lang::Source& source = *checked.program->source;
  CHECK(source.where(finish.rules[0].origins[0].begin) == "gate.allot:4");
  CHECK(source.where(finish.rules[0].origins[1].begin) == "pick.allot:3");
  CHECK(source.where(finish.rules[1].span.begin) == "pick.allot:3");
}

TEST_CASE("what members must agree on") {
  const auto two = [](const std::string& first, const std::string& second) {
    const std::string use = "on finish of group g { when g.flat then drop }\n";
    return check("policy p = one then two\n# file one.allot\npolicy one\n" + first + use + "# file two.allot\npolicy two\n" +
                 second + use)
        .codes;
  };
  CHECK(two("hit when reward >= 1\n", "hit   when  reward >= 1\n") == Codes{});
  CHECK(two("hit when reward >= 1\n", "") == Codes{});
  CHECK(two("hit when reward >= 1\n", "hit when reward > 1\n") == Codes{"E0605"});
  CHECK(two("flat within 0.1\n", "flat within 0.1\n") == Codes{});
  CHECK(two("flat within 0.1\n", "flat within 0.2\n") == Codes{"E0605"});
  CHECK(two("budget 10 rollouts per run\n", "budget 10 rollouts per run\n") == Codes{});
  CHECK(two("budget 10 rollouts per run\n", "budget 100 tokens per run\n") == Codes{});
  CHECK(two("budget 10 rollouts per run\n", "budget 10 rollouts per iteration\n") == Codes{"E0605"});
  CHECK(two("refill at most 2 rounds then abort\n", "refill at most 2 rounds then abort\n") == Codes{});
  CHECK(two("refill at most 2 rounds then abort\n", "refill at most 2 rounds then skip_update\n") == Codes{"E0605"});
}

TEST_CASE("a host has one input of a name, whichever members read it") {
  const std::string reads = "on finish of group g { when (hard[g.prompt] ?? 0) > 1 then drop }\n";
  const auto one = "\n# file one.allot\npolicy one\ninput hard: real? per prompt\n" + reads;
  const auto same = check("policy p = one then two" + one + "# file two.allot\npolicy two\ninput hard: real? per prompt\n" + reads);
  INFO(same.shown);
  REQUIRE(same.program);
  REQUIRE(same.program->states.size() == 1);
  CHECK(same.program->states[0].name == "hard");
  CHECK(check("policy p = one then two" + one + "# file two.allot\npolicy two\ninput hard: real? per run\n"
              "on finish of group g { when (hard ?? 0) > 1 then drop }\n")
            .codes == Codes{"E0605"});
}

TEST_CASE("members of members, and what a composition says itself") {
  const auto checked = check("policy outer = inner(gate.least: 5)\nparam own: real = 0.5\n"
                             "on wave of group g { when (g.reward_mean ?? 0) > own then stop }\n"
                             "# file inner.allot\npolicy inner = gate then pick\n" +
                             gate.substr(1) + pick.substr(1));
  INFO(checked.shown);
  REQUIRE(checked.program);
  std::vector<std::string> names;
  for (const lang::Parameter& parameter : checked.program->parameters) names.push_back(parameter.name);
  CHECK(names == std::vector<std::string>{"inner.gate.least", "inner.pick.kept", "own"});
  CHECK(checked.program->parameters[0].value.integer() == 5);
}

TEST_CASE("handlers of two turns meet where they fall together") {
  const auto numbers = [](const std::string& first, const std::string& second) {
    const auto checked = check("policy p = one then two\n# file one.allot\npolicy one\nparam at: turns = 10\n" + first +
                               "# file two.allot\npolicy two\nparam at: turns = 10\n" + second);
    INFO(checked.shown);
    REQUIRE(checked.program);
    std::multiset<std::size_t> found;  // how many numbers each handler has
    for (const lang::Handler& handler : checked.program->handlers) {
      found.insert((handler.number ? 1U : 0U) + handler.numbers_too.size());
    }
    return found;
  };
  const auto on = [](const std::string& point) { return "on " + point + " of group g { when g.turn > 2 and at > 1 then stop }\n"; };
  // Each alone, and both where the parameters are equal.
  CHECK(numbers(on("turn at"), on("turn at")) == std::multiset<std::size_t>{1, 1, 2});
  // Literals that differ never meet; equal ones always.
  CHECK(numbers(on("turn 5"), on("turn 7")) == std::multiset<std::size_t>{1, 1});
  CHECK(numbers(on("turn 5"), on("turn 5")) == std::multiset<std::size_t>{1});
  // At turn 5 the one that is asked at every turn has its say too.
  CHECK(numbers(on("every turn"), on("turn 5")) == std::multiset<std::size_t>{0, 1});
}

TEST_CASE("files are found beside the one that names them, then on the path, then in stdlib") {
  const Folder folder;
  const std::string use = "policy p\nimport team.gates\non finish of group g { when gates.few(g.scored) then drop }\n";
  const auto gates = [](int least) { return "policy gates\nfn few(n: rollouts) -> bool = n < " + std::to_string(least) + "\n"; };
  const fs::path policy = folder.write("project/policies/p.allot", use);
  CHECK(check_file(policy).shown.find("there is no file for `team.gates`") != std::string::npos);
  folder.write("project/stdlib/team/gates.allot", gates(2));
  const auto of_library = check_file(policy);
  CHECK(of_library.shown.empty());
  folder.write("shared/team/gates.allot", gates(3));
  const auto of_path = check_file(policy, {folder.path() / "shared"});
  CHECK(of_path.source->file_text(1) == gates(3));
  folder.write("project/policies/team/gates.allot", gates(4));
  const auto beside = check_file(policy, {folder.path() / "shared"});
  CHECK(beside.source->file_text(1) == gates(4));
  // What is hashed changes with each of its files.
  CHECK(lang::hashed_text(*of_library.source) != lang::hashed_text(*of_path.source));
}

TEST_CASE("one name that means two different files is told, with both") {
  const Folder folder;
  folder.write("gates.allot", "policy gates\nfn f(x: real) -> real = x\n");
  folder.write("team/other.allot", "policy other\nimport gates\nfn g(x: real) -> real = gates.f(x)\n");
  folder.write("team/gates.allot", "policy gates\nfn f(x: real) -> real = 2 * x\n");
  const fs::path policy = folder.write(
      "p.allot", "policy p\nimport gates\nimport team.other\n"
                 "on finish of group g { when gates.f(g.reward_mean ?? 0) > other.g(0.5) then drop }\n");
  const auto checked = check_file(policy);
  CHECK_FALSE(checked.program);
  CHECK(checked.shown.find("error[E0603]: `gates` means two files") != std::string::npos);
  CHECK(checked.shown.find("here it is " + (folder.path() / "team/gates.allot").string()) != std::string::npos);
  // The same text twice is no conflict.
  folder.write("team/gates.allot", "policy gates\nfn f(x: real) -> real = x\n");
  CHECK(check_file(policy).program);
}

TEST_CASE("a file that names itself is a circle too") {
  const Folder folder;
  const fs::path policy = folder.write("p.allot", "policy p\nimport p\nfn f(x: real) -> real = x\n"
                                                  "on finish of group g { when p.f(g.reward_mean ?? 0) > 1 then drop }\n");
  CHECK(check_file(policy).shown.find("E0602") != std::string::npos);
}

TEST_CASE("places of a source of several files are those of its files") {
  const lang::Source source({{"a", "one\ntwo"}, {"b", "\xEF\xBB\xBFthree\r\nfour\n"}, {"c", ""}});
  REQUIRE(source.file_count() == 3);
  CHECK(source.file_text(0) == "one\ntwo");
  CHECK(source.file_text(1) == "three\r\nfour\n");
  CHECK(source.file_text(2).empty());
  const auto four = static_cast<std::uint32_t>(source.text().find("four"));
  CHECK(source.where(four) == "b:2");
  CHECK(source.line_at(four) == "four");
  CHECK(source.place(four + 1).column == 2);
  CHECK(source.where(static_cast<std::uint32_t>(source.text().size())) == "c:1");
}

TEST_CASE("members that are asked about different things stand side by side, save groups and the batch") {
  const std::string group = "# file one.allot\npolicy one\non wave of group g { when g.flat then stop }\n";
  CHECK(check("policy p = one then two\n" + group +
              "# file two.allot\npolicy two\non wave 1 of batch b { sample [2 for g in b.groups] more }\n")
            .codes == Codes{"E0309"});
  CHECK(check("policy p = one then two\n" + group +
              "# file two.allot\npolicy two\non size of batch b { start 2 each }\n")
            .codes == Codes{});
}
