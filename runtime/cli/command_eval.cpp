// allot eval: the value of one expression, by the evaluator.
#include <fmt/core.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compiler/executable.h"
#include "lang/words.h"
#include "runtime/cli/cell_json.h"
#include "runtime/cli/command.h"
#include "runtime/cli/policy_file.h"

namespace allot::cli {

namespace {

struct EvalOptions {
  std::string expression;
  std::vector<std::string> folders;  // taken as by every command; an expression names no file
  bool json = false;
};

struct Answer {
  compiler::FaultKind fault = compiler::FaultKind::None;
  lang::Cell value;
  std::vector<lang::Cell> elements;  // of a vector
  lang::Type type;
};

std::string words(compiler::FaultKind fault) {
  switch (fault) {
    case compiler::FaultKind::None: return "no fault";
    case compiler::FaultKind::IntegerOverflow: return "an integer grew past 64 bits";
    case compiler::FaultKind::DivisionByZero: return "a division by zero";
    case compiler::FaultKind::NotFinite: return "a result that is not a finite number";
    case compiler::FaultKind::IndexOutOfRange: return "an index outside its vector";
    case compiler::FaultKind::Domain: return "an argument outside its function's domain";
    case compiler::FaultKind::OutOfMemory: return "more elements than a handler may make";
  }
  return "a fault";
}

Answer evaluate(const lang::Program& program) {
  const lang::Handler& handler = program.handlers.front();
  lang::Cell report = lang::Cell::undefined();
  std::uint8_t written = 0;
  compiler::Outcome outcome;
  outcome.reports = &report;
  outcome.report_written = &written;
  compiler::Scratch scratch;
  const std::array<std::int64_t, lang::scope_count> sizes{};
  compiler::Frame frame;
  frame.scope_sizes = sizes.data();
  frame.scratch = &scratch;
  compiler::evaluate(program)->decide(0, frame, outcome);
  const bool vector = !handler.rules.empty();
  const lang::NodeId node = vector ? handler.rules.front().verdict.amount : handler.effects.front().value;
  lang::Type type = handler.nodes[static_cast<std::size_t>(node)].type;
  if (type.matrix() && type.columns == 0) type.columns = static_cast<std::int16_t>(outcome.amounts.width);
  return {outcome.fault,
          vector ? lang::Cell{} : report,
          {outcome.amounts.cells, outcome.amounts.cells + outcome.amounts.size},
          type};
}

// A vector or matrix that is undefined as a whole has no elements.
bool is_defined(const Answer& answer) {
  return answer.type.vector() ? !(answer.type.missing && answer.elements.empty()) : answer.value.defined != 0;
}

// "12 tokens", "0.5", "undefined", "[[1, 2], [3, 4]]".
std::string with_unit(const Answer& answer) {
  const std::string text =
      answer.type.vector() ? lang::show(answer.elements, answer.type) : lang::show(answer.value, answer.type);
  const std::string unit = lang::to_text(answer.type.unit);
  return !is_defined(answer) || unit.empty() ? text : text + " " + unit;
}

nlohmann::ordered_json to_json(const Answer& answer) {
  nlohmann::ordered_json value;  // null
  if (!answer.type.vector()) {
    value = cell_json(answer.value, answer.type);
  } else if (is_defined(answer)) {
    value = nlohmann::ordered_json::array();
    const auto width = static_cast<std::size_t>(answer.type.matrix() ? answer.type.columns : 0);
    for (std::size_t i = 0; i < answer.elements.size(); ++i) {
      const nlohmann::ordered_json element = cell_json(answer.elements[i], answer.type);
      if (width > 0 && i % width == 0) value.push_back(nlohmann::ordered_json::array());
      (width > 0 ? value.back() : value).push_back(element);
    }
  }
  return {{"value", value},
          {"defined", is_defined(answer)},
          {"type", lang::to_text(answer.type)},
          {"unit", lang::to_text(answer.type.unit)}};
}

Exit eval(const EvalOptions& options) {
  PolicyFile file;
  file.source = std::make_shared<const lang::Source>("<expression>", options.expression);
  file.program = lang::check_expression(file.source, file.diagnostics);
  show_diagnostics(file);
  if (!file.program) return Exit::Failed;
  const Answer answer = evaluate(*file.program);
  if (answer.fault != compiler::FaultKind::None) {
    if (options.json) fmt::print("{}\n", nlohmann::ordered_json{{"fault", words(answer.fault)}}.dump());
    complain({"the expression has no value: " + words(answer.fault), "in a policy this is a fault: the group gets the "
                                                                     "default of the point, and the fault is logged"});
    return Exit::Failed;
  }
  fmt::print("{}\n", options.json ? to_json(answer).dump() : with_unit(answer));
  return Exit::Good;
}

// An expression may begin with `-`, which looks like an option that there is not: `-(1)`, `-max(1, 2)`.
void take_expression(EvalOptions& options, bool given, const std::vector<std::string>& others) {
  for (const std::string& word : others) {
    if (word == "--") continue;
    const bool option = word.starts_with("--") && word.size() > 2 && lang::is_name_start(word[2]);
    if (option || given) throw CLI::ExtrasError({word});
    options.expression = word;
    given = true;
  }
  if (!given) throw CLI::RequiredError("EXPR");
}

}  // namespace

void add_eval(CLI::App& app, Exit& exit) {
  auto options = std::make_shared<EvalOptions>();
  CLI::App* command = app.add_subcommand("eval", "Work out one expression and print its value");
  const CLI::Option* const positional = command->add_option("EXPR", options->expression, "an expression without facts");
  command->allow_extras();
  command->add_option("--path", options->folders, "as with other commands; an expression names no file")->allow_extra_args(false);
  command->add_flag("--json", options->json, "one JSON object: value, defined, type, unit");
  command->footer("examples:\n  allot eval '3 tokens * 4'\n  allot eval 'mean([1, 0, 1, 1])'\n"
                  "  allot eval 'prob_mixed(beta(1, 1), hits: 0, misses: 2, size: 8)'\n"
                  "exit status: 0 a value, 1 errors or a fault, 2 a wrong option");
  command->callback([options, command, positional, &exit] {
    take_expression(*options, positional->count() > 0, command->remaining());
    exit = eval(*options);
  });
}

}  // namespace allot::cli
