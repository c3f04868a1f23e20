// allot test: the `test` blocks of policies, by the evaluator and by machine code.
#include <fmt/core.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "runtime/cli/command.h"
#include "runtime/cli/policy_file.h"
#include "runtime/trial/trial.h"

namespace allot::cli {

namespace {

using Json = nlohmann::ordered_json;

struct TestOptions {
  std::vector<std::string> files;
  std::string filter;
  bool json = false;
  bool evaluator_only = false;
};

struct Counts {
  std::size_t passed = 0;
  std::size_t failed = 0;
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
  return counts;
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
    if (file->program) {
      const Counts counts = run_tests(*file, options, document);
      total.passed += counts.passed;
      total.failed += counts.failed;
    }
    if (!file->program && exit == Exit::Good) exit = Exit::Failed;
    all.push_back(std::move(document));
  }
  if (exit == Exit::Good && total.failed > 0) exit = Exit::Failed;
  if (exit == Exit::Good && total.passed == 0) {
    complain({options.filter.empty() ? "there is no test in these policies"
                                     : fmt::format("there is no test whose title contains '{}'", options.filter),
              options.filter.empty() ? "a policy's tests stand in its file: test \"…\" { given …; expect … }" : ""});
    exit = Exit::Misuse;
  }
  if (options.json) {
    fmt::print("{}\n", all.dump(2));
  } else if (total.passed + total.failed > 0) {
    fmt::print("{} passed, {} failed\n", total.passed, total.failed);
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
  command->add_flag("--json", options->json, "one JSON array: a file and its tests an element");
  command->footer("examples:\n  allot test stdlib\n  allot test early.allot --filter \"prefixes\"\n"
                  "exit status: 0 all passed, 1 a test failed or a policy has errors, 2 nothing could be run");
  command->callback([options, &exit] { exit = test(*options); });
}

}  // namespace allot::cli
