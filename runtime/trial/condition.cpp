#include "runtime/trial/condition.h"

#include <string_view>

#include <fmt/format.h>

namespace allot::trial {

namespace tree = lang::tree;

namespace {

constexpr std::string_view expect_word = "expect";

// The policy; of a composition what a condition may need of it: the members would answer as well.
std::string condition_text(const lang::Program& program) {
  if (program.tree->members.empty()) return std::string(program.source->file_text(0));
  const std::string hit = program.hit ? std::string(program.source->text(program.hit->span)) : "";
  return "policy " + program.name + "\n" + hit + "\n";
}

std::string condition_handler(const lang::Program& program, const tree::Expect& expect, const std::string& group) {
  std::string lets;
  for (const tree::Handler& handler : program.tree->handlers) {
    if (handler.variable.text != group || handler.subject != "group" || !lets.empty()) continue;
    for (const tree::Statement& statement : handler.statements) {
      if (statement.kind != tree::StatementKind::Let) continue;
      lets += "  " + std::string(program.source->text(statement.span)) + "\n";
    }
  }
  // The span of an expression leaves out brackets around its first operand; that of the statement does not.
  std::string_view condition = program.source->text(expect.span);
  if (condition.starts_with(expect_word)) condition.remove_prefix(expect_word.size());
  return fmt::format("\non wave {} of group {} {{\n{}  when ({}) then drop\n  otherwise train\n}}\n", condition_wave,
                     group, lets, condition);
}

}  // namespace

std::string condition_source(const lang::Program& program, const tree::Expect& expect, const std::string& group) {
  return condition_text(program) + condition_handler(program, expect, group);
}

std::string without_places(const lang::Diagnostics& diagnostics) {
  std::string text;
  for (const lang::Diagnostic& each : diagnostics.all()) {
    if (each.severity != lang::Severity::Error) continue;
    text += fmt::format("\nerror[{}]: {}{}", each.code, each.message, each.label.empty() ? "" : ": " + each.label);
    if (!each.help.empty()) text += "\n  help: " + each.help;
  }
  return text;
}

}  // namespace allot::trial
