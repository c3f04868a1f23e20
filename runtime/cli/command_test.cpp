// allot test: the `test` blocks of policies, by the evaluator and by machine code.
#include <fmt/core.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "runtime/cli/command.h"
#include "runtime/cli/policy_file.h"
#include "runtime/trial/coverage.h"
#include "runtime/trial/mutation.h"
#include "runtime/trial/trial.h"

namespace allot::cli {

namespace {

using Json = nlohmann::ordered_json;

struct TestOptions {
  std::vector<std::string> files;
  std::string filter;
  bool json = false;
  bool evaluator_only = false;
  bool coverage = false;
  bool mutate = false;
  bool boundaries = false;
  double most_survivors = 100;  // per cent
};

struct Counts {
  std::size_t passed = 0;
  std::size_t failed = 0;
  std::size_t rules = 0;
  std::size_t never_fired = 0;
  std::size_t mutants = 0;
  std::size_t survivors = 0;

  Counts& operator+=(const Counts& more) {
    passed += more.passed;
    failed += more.failed;
    rules += more.rules;
    never_fired += more.never_fired;
    mutants += more.mutants;
    survivors += more.survivors;
    return *this;
  }
};

Json to_json(const trial::TestReport& report) {
  Json expects = Json::array();
  for (const trial::ExpectReport& expect : report.expects) {
    expects.push_back({{"line", expect.line},
                       {"text", expect.text},
                       {"passed", expect.passed},
                       {"expected", expect.expected},
                       {"got", expect.got},
                       {"trace", expect.trace}});
  }
  Json object = {{"title", report.title}, {"line", report.line}, {"passed", report.passed}};
  if (!report.error.empty()) object["error"] = report.error;
  object["expects"] = expects;
  return object;
}

void tell_coverage(const PolicyFile& file, const std::vector<trial::TestReport>& reports, const TestOptions& options,
                   Json& document, Counts& counts) {
  document["rules"] = Json::array();
  for (const trial::RuleCoverage& rule : trial::coverage(*file.program, reports)) {
    ++counts.rules;
    counts.never_fired += rule.times == 0;
    document["rules"].push_back(
        {{"file", rule.file}, {"line", rule.line}, {"point", rule.point}, {"text", rule.text}, {"tests", rule.times}});
    if (rule.times > 0 || options.json) continue;
    fmt::print("  {}:{}: no test makes this rule answer: {}\n", rule.file, rule.line, rule.text);
  }
}

void tell_mutation(const PolicyFile& file, const TestOptions& options, Json& document, Counts& counts) {
  const trial::MutationReport report = trial::mutate(*file.program, {.boundaries = options.boundaries});
  counts.mutants += static_cast<std::size_t>(report.tried);
  counts.survivors += report.survivors.size();
  Json survivors = Json::array();
  for (const trial::Mutant& mutant : report.survivors) {
    survivors.push_back({{"line", mutant.line}, {"column", mutant.column}, {"change", mutant.change}});
    if (options.json) continue;
    fmt::print("  {}:{}:{}: no test notices: {}\n", file.source->name(), mutant.line, mutant.column, mutant.change);
  }
  document["mutation"] = {{"tried", report.tried}, {"refused", report.refused}, {"survivors", survivors}};
}

double per_cent(std::size_t part, std::size_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

void sum_up(const TestOptions& options, const Counts& total) {
  fmt::print("{} passed, {} failed\n", total.passed, total.failed);
  if (options.coverage) fmt::print("{} of {} rules answered in a test\n", total.rules - total.never_fired, total.rules);
  if (!options.mutate || total.mutants == 0) return;
  fmt::print("{} of {} changes were not noticed ({:.1f} %)\n", total.survivors, total.mutants,
             per_cent(total.survivors, total.mutants));
}

// Runs the tests of one checked policy; their report is printed, or put into `document`.
Counts run_tests(const PolicyFile& file, const TestOptions& options, Json& document) {
  const auto reports = trial::run(*file.program, {.only = options.filter, .native = !options.evaluator_only});
  Counts counts;
  document["policy"] = file.program->name;
  document["tests"] = Json::array();
  for (const trial::TestReport& report : reports) {
    ++(report.passed ? counts.passed : counts.failed);
    document["tests"].push_back(to_json(report));
  }
  if (!options.json && !reports.empty()) {
    const std::string text = trial::render(reports, *file.program);
    fmt::print("{}\n{}{}", file.source->name(), text, text.ends_with('\n') ? "" : "\n");
  }
  if (options.coverage) tell_coverage(file, reports, options, document, counts);
  if (options.mutate && counts.failed == 0) tell_mutation(file, options, document, counts);
  if (options.mutate && counts.failed > 0) {
    complain({fmt::format("{}: nothing was changed, since its tests do not pass as they are", file.source->name()), ""});
  }
  return counts;
}

// What all the tests together come to; says so where they come to nothing.
Exit exit_of(const TestOptions& options, const Counts& total) {
  if (total.failed > 0 || total.never_fired > 0) return Exit::Failed;
  if (per_cent(total.survivors, total.mutants) > options.most_survivors) return Exit::Failed;
  if (total.passed == 0) {
    complain({options.filter.empty() ? "there is no test in these policies"
                                     : fmt::format("there is no test whose title contains '{}'", options.filter),
              options.filter.empty() ? "a policy's tests stand in its file: test \"…\" { given …; expect … }" : ""});
    return Exit::Misuse;
  }
  if (options.mutate && total.mutants == 0) {
    complain({"nothing in these policies could be changed, so nothing is known of their tests",
              "--mutate changes what stands in the file itself, not what it imports"});
    return Exit::Misuse;
  }
  return Exit::Good;
}

Exit test(const TestOptions& options) {
  const auto files = find_policies(options.files);
  if (!files) return complain(files.error()), Exit::Misuse;
  Exit exit = Exit::Good;
  Counts total;
  Json all = Json::array();
  for (const auto& path : *files) {
    const Result<PolicyFile> file = read_policy(path);
    if (!file) {
      complain(file.error());
      all.push_back({{"file", path.string()}, {"unreadable", file.error().what}});
      exit = Exit::Misuse;
      continue;
    }
    show_diagnostics(*file);
    Json document = {{"file", file->source->name()},
                     {"diagnostics", Json::parse(lang::render_json(file->diagnostics, *file->source))}};
    if (file->program) total += run_tests(*file, options, document);
    if (!file->program && exit == Exit::Good) exit = Exit::Failed;
    all.push_back(std::move(document));
  }
  if (exit == Exit::Good) exit = exit_of(options, total);
  if (options.json) {
    fmt::print("{}\n", all.dump(2));
  } else if (total.passed + total.failed > 0) {
    sum_up(options, total);
  }
  return exit;
}

}  // namespace

void add_test(CLI::App& app, Exit& exit) {
  auto options = std::make_shared<TestOptions>();
  CLI::App* command = app.add_subcommand("test", "Run the tests that stand in policies");
  command->add_option("FILE", options->files, "policy files; a folder stands for every .allot file in it")->required();
  command->add_option("--filter", options->filter, "only tests whose title contains these words");
  command->add_flag("--evaluator", options->evaluator_only, "ask the evaluator alone, not machine code as well");
  command->add_flag("--coverage", options->coverage, "tell which rules no test makes answer, and fail if there is one");
  CLI::Option* mutate =
      command->add_flag("--mutate", options->mutate,
                        "tell which small changes of the rules no test notices: a comparison swapped, "
                        "a number nudged, an action left out, …");
  command->add_flag("--boundaries", options->boundaries, "with --mutate: change `<` to `<=` and the like as well")
      ->needs(mutate);
  command
      ->add_option("--most-survivors", options->most_survivors,
                   "with --mutate: fail where more than this share of the changes goes unnoticed, in per cent")
      ->needs(mutate)
      ->check(CLI::Range(0.0, 100.0));
  command->add_flag("--json", options->json, "one JSON array: a file and its tests an element");
  command->footer(
      "examples:\n  allot test stdlib\n  allot test early.allot --filter \"prefixes\"\n"
      "  allot test stdlib --coverage --mutate --most-survivors 5\n"
      "exit status: 0 all passed, 1 a test failed, a policy has errors, or coverage or mutation falls short,\n"
      "2 nothing could be run");
  command->callback([options, &exit] { exit = test(*options); });
}

}  // namespace allot::cli
