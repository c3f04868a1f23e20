#include "parser_trees.h"

#include <fmt/format.h>

#include "lang/parser.h"

namespace allot::test {

using namespace allot::lang;
using tree::ExprKind;

namespace {

std::string all(const tree::File& file, const std::string& head, const tree::Expr& expr) {
  auto text = fmt::format("({}", head);
  for (std::size_t i = 0; i < expr.args.size(); ++i) {
    const bool labelled = i < expr.labels.size() && !expr.labels[i].empty();
    text += fmt::format(" {}{}", labelled ? expr.labels[i] + ": " : "", to_text(file, expr.args[i]));
  }
  return text + ")";
}

std::string message(const tree::File& file, const tree::Expr& expr) {
  std::string text = "\"";
  for (const auto& part : expr.parts)
    text += part.hole == tree::none ? part.text : fmt::format("{{{}}}", to_text(file, part.hole));
  return text + "\"";
}

std::string unit_of(const tree::Expr& expr) {
  return expr.unit.empty() ? "" : fmt::format("_{}", expr.unit);
}

}  // namespace

std::string to_text(const tree::File& file, tree::ExprId id) {
  if (id == tree::none) return "none";
  const auto& expr = file[id];
  switch (expr.kind) {
    case ExprKind::Integer:
    case ExprKind::Real:
      return expr.text + unit_of(expr);
    case ExprKind::Percent:
      return expr.text + "%";
    case ExprKind::Bool:
    case ExprKind::Name:
      return expr.text;
    case ExprKind::String:
      return message(file, expr);
    case ExprKind::Undefined:
      return "undefined";
    case ExprKind::Field:
      return fmt::format("{}.{}", to_text(file, expr.args[0]), expr.text);
    case ExprKind::Index:
      return fmt::format("{}[{}]", to_text(file, expr.args[0]), to_text(file, expr.args[1]));
    case ExprKind::Call:
      return all(file, expr.text + "()", expr);
    case ExprKind::Unary:
    case ExprKind::Binary:
      return all(file, expr.op, expr);
    case ExprKind::Compare: {
      auto text = fmt::format("({}", to_text(file, expr.args[0]));
      for (std::size_t i = 0; i < expr.ops.size(); ++i)
        text += fmt::format(" {} {}", expr.ops[i], to_text(file, expr.args[i + 1]));
      return text + ")";
    }
    case ExprKind::If:
      return all(file, "if", expr);
    case ExprKind::IsUndefined:
      return all(file, expr.negated ? "defined" : "undefined?", expr);
    case ExprKind::Comprehension:
      return all(file, "for " + expr.text, expr);
    case ExprKind::List:
      return all(file, "list", expr);
    case ExprKind::Record:
      return all(file, "record " + expr.text, expr);
    case ExprKind::Allot:
      return all(file, "allot " + expr.text, expr);
  }
  return "?";
}

std::string to_text(const tree::File& file, const tree::Verdict& verdict) {
  static const char* const names[] = {"continue", "stop",    "stop where", "sample", "complete", "start",
                                      "branch",   "train",   "drop",       "defer",  "refill",   "leave",
                                      "evict",    "readmit", "take",       "set",    "replay"};
  std::string text;
  for (const auto& action : verdict.actions) {
    if (!text.empty()) text += ", ";
    text += names[static_cast<int>(action.kind)];
    if (!action.target.empty()) text += " <" + action.target + ">";
    if (action.amount != tree::none) text += fmt::format(" {}", to_text(file, action.amount));
    if (action.second != tree::none) text += fmt::format(" {}", to_text(file, action.second));
  }
  if (verdict.because != tree::none) text += " because " + to_text(file, verdict.because);
  return text;
}

std::string shape(const std::string& expression) {
  const Source source("expression", expression);
  tree::File file;
  Diagnostics diagnostics;
  const auto id = parse_expression(source, file, diagnostics);
  if (id != tree::none) return to_text(file, id);
  return diagnostics.all().empty() ? "no message" : "error: " + diagnostics.all().front().message;
}

}  // namespace allot::test
