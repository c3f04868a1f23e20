// allot doc: a policy's page, made from its text.
#include <fmt/core.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>
#include <set>

#include "runtime/cli/command.h"
#include "runtime/cli/explanation.h"
#include "runtime/cli/page.h"
#include "runtime/cli/policy_file.h"

namespace allot::cli {

namespace {

using Json = nlohmann::ordered_json;

struct DocOptions {
  std::string file;
  bool html = false;
};

std::string quoted(const std::string& text) {
  return "`" + text + "`";
}
std::string field(const Json& object, const char* name) {
  return object.value(name, std::string());
}

std::string range(const Json& parameter) {
  if (parameter["low"].is_null()) return "";
  return fmt::format("{}..{}", parameter["low"].get<double>(), parameter["high"].get<double>());
}

void write_declarations(Page& page, const Json& told) {
  std::vector<std::vector<std::string>> rows;
  for (const Json& parameter : told["parameters"]) {
    rows.push_back({quoted(field(parameter, "name")), field(parameter, "type"), value_text(parameter["default"]),
                    range(parameter), field(parameter, "doc")});
  }
  if (!rows.empty()) page.heading(2, "Parameters");
  page.table({"name", "type", "default", "range", "meaning"}, rows);
  std::vector<std::string> terms;
  if (told.contains("hit")) terms.push_back(quoted(told["hit"].get<std::string>()));
  for (const Json& budget : told["budgets"]) {
    terms.push_back(fmt::format("budget: {} {} per {}{}", budget["amount"].get<std::int64_t>(), field(budget, "unit"),
                                field(budget, "per"), budget["carry_over"].get<bool>() ? ", carried over" : ""));
  }
  if (!told["refill"].is_null()) {
    terms.push_back(fmt::format("refill at most {} rounds, then {}", told["refill"]["rounds"].get<std::int64_t>(),
                                field(told["refill"], "then")));
  }
  if (!terms.empty()) page.heading(2, "Terms");
  page.list(terms);
  rows.clear();
  for (const Json& state : told["state"]) {
    rows.push_back({quoted(field(state, "name")), field(state, "type"), field(state, "per"), field(state, "initial"),
                    field(state, "written")});
  }
  if (!rows.empty()) page.heading(2, "State");
  page.table({"name", "type", "per", "initial", "written"}, rows);
}

void write_handlers(Page& page, const lang::Program& program, const Json& told) {
  if (!program.handlers.empty()) page.heading(2, "Decisions");
  std::size_t index = 0;
  for (const Json& handler : told["handlers"]) {
    const lang::Handler& checked = program.handlers[index++];
    page.heading(3, "on " + field(handler, "text"));
    page.paragraph(fmt::format("Asked {}. A verdict leaves out: {}. At most {} steps.", field(handler, "asked"),
                               field(handler, "left_out"), field(handler, "worst_cost")));
    page.code(std::string(program.source->text(checked.span)));
    std::vector<std::vector<std::string>> reads;
    for (const auto* list : {&checked.reads, &checked.columns}) {
      for (const lang::ReadKey& key : *list) {
        reads.push_back({quoted(key.text), lang::to_text(key.type), std::string(lang::row(key.fact).doc)});
      }
    }
    page.table({"reads", "type", "meaning"}, reads);
  }
}

void write_titles(Page& page, const lang::Program& program) {
  if (!program.tree) return;
  const auto list = [&](std::string heading, const auto& declarations) {
    std::vector<std::string> titles;
    for (const auto& each : declarations) titles.push_back(each.title);
    if (!titles.empty()) page.heading(2, std::move(heading));
    page.list(std::move(titles));
  };
  list("Tests", program.tree->tests);
  list("Scenarios", program.tree->scenarios);
}

Page page_of(const lang::Program& program, const Json& told) {
  Page page;
  page.heading(1, program.name);
  page.paragraph(program.doc);
  write_declarations(page, told);
  write_handlers(page, program, told);
  write_titles(page, program);
  const Json& audit = told["audit_only_because"];
  page.heading(2, "Promises");
  page.paragraph(audit.empty()
                     ? "The same recorded facts give the same verdict, and the same order of events the same run."
                     : "Audit-only: it reads measured facts, so a recorded decision can be checked, and a run "
                       "cannot be repeated from its events.");
  page.paragraph(fmt::format("SHA-256 of the text: `{}`", program.hash));
  return page;
}

Exit doc(const DocOptions& options) {
  const Result<PolicyFile> file = read_policy(options.file);
  if (!file) return complain(file.error()), Exit::Misuse;
  show_diagnostics(*file);
  if (!file->program) return Exit::Failed;
  const auto parameters = lang::bind(*file->program, {});
  if (!parameters) return complain(parameters.error()), Exit::Misuse;
  const Page page = page_of(*file->program, explanation(*file->program, *parameters));
  fmt::print("{}", options.html ? page.html(file->program->name) : page.markdown());
  return Exit::Good;
}

}  // namespace

void add_doc(CLI::App& app, Exit& exit) {
  auto options = std::make_shared<DocOptions>();
  CLI::App* command =
      app.add_subcommand("doc", "Write a policy's page: what it is, its parameters, state, rules, tests");
  command->add_option("FILE", options->file, "a policy file; - is stdin")->required();
  command->add_flag("--html", options->html, "HTML in one file; without it Markdown");
  command->footer(
      "`##` lines before `policy` and before a parameter become its text. The page goes to stdout.\n"
      "examples:\n  allot doc stdlib/sara.allot > sara.md\n  allot doc early.allot --html > early.html\n"
      "exit status: 0 written, 1 errors in the policy, 2 a file that cannot be read");
  command->callback([options, &exit] { exit = doc(*options); });
}

}  // namespace allot::cli
