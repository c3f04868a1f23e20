// The passes, in order. Later ones run even after mistakes, on what could be understood.
#include "lang/check/declarations.h"
#include "lang/check/expressions.h"
#include "lang/check/handlers.h"
#include "lang/check/policy.h"
#include "lang/check/units.h"
#include "lang/check/warnings.h"
#include "lang/parser.h"
#include "lang/program.h"

namespace allot::lang {

std::optional<Program> check(std::shared_ptr<const Source> source, Diagnostics& diagnostics) {
  std::optional<tree::File> parsed = parse(*source, diagnostics);
  if (!parsed) {
    diagnostics.sort();
    return std::nullopt;
  }
  const auto tree = std::make_shared<const tree::File>(std::move(*parsed));
  Program program;
  program.name = tree->policy.text;
  program.doc = tree->doc;
  program.source = source;
  program.tree = tree;
  checker::Policy policy{*source, *tree, program, diagnostics, {}, false, 0, false, {}, {}, {}, {}, 0};
  policy.unread = diagnostics.has_errors();
  checker::declare_unread(policy);
  checker::declare_parameters(policy);
  checker::declare_states(policy);
  checker::declare_functions(policy);
  checker::declare_budgets(policy);
  checker::declare_refill(policy);
  checker::declare_hit(policy);
  checker::check_handlers(policy);
  checker::check_tests(policy);
  if (!diagnostics.has_errors()) checker::warn_of_unused(policy);
  diagnostics.sort();
  if (diagnostics.has_errors()) return std::nullopt;
  return program;
}

std::optional<Program> check_expression(std::shared_ptr<const Source> source, Diagnostics& diagnostics) {
  tree::File file;
  file.policy.text = "expression";
  const tree::ExprId id = parse_expression(*source, file, diagnostics);
  if (id == tree::none || diagnostics.has_errors()) {
    diagnostics.sort();
    return std::nullopt;
  }
  const auto tree = std::make_shared<const tree::File>(std::move(file));
  Program program;
  program.name = tree->policy.text;
  program.source = source;
  program.tree = tree;
  program.reports = {"value"};
  checker::Policy policy{*source, *tree, program, diagnostics, {}, false, 0, false, {}, {}, {}, {}, 0};
  checker::Builder builder(policy);
  checker::Where where;
  where.constant = true;
  where.eval = true;
  checker::Expressions expressions(policy, builder, where);
  const NodeId value = expressions.check(id);
  const bool vector = value != checker::poison && builder.type(value).vector();
  diagnostics.sort();
  if (diagnostics.has_errors()) return std::nullopt;
  Handler handler = std::move(builder.handler);
  handler.point = Point::Eval;
  handler.subject = Subject::Run;
  handler.text = "expression";
  handler.span = (*tree)[id].span;
  if (vector) {
    Rule rule;
    rule.verdict.amount = value;
    rule.span = handler.span;
    handler.rules.push_back(std::move(rule));
    program.handlers.push_back(std::move(handler));
    return program;
  }
  Effect effect;
  effect.kind = EffectKind::Report;
  effect.index = 0;
  effect.value = value;
  effect.span = handler.span;
  handler.effects.push_back(std::move(effect));
  program.handlers.push_back(std::move(handler));
  return program;
}

}  // namespace allot::lang
