// The passes, in order. Later ones run even after mistakes, on what could be understood.
#include "lang/check/check.h"
#include "lang/check/declarations.h"
#include "lang/check/expressions.h"
#include "lang/check/handlers.h"
#include "lang/check/policy.h"
#include "lang/check/units.h"
#include "lang/check/warnings.h"
#include "lang/compose/compose.h"
#include "lang/compose/library.h"
#include "lang/parser.h"
#include "lang/program.h"

namespace allot::lang {
namespace checker {

std::optional<Program> check_file(std::shared_ptr<const Source> source, std::shared_ptr<const tree::File> tree,
                                  bool unread, Diagnostics& diagnostics) {
  const bool failed_before = diagnostics.has_errors();
  Program program;
  program.name = tree->policy.text;
  program.doc = tree->doc;
  program.source = source;
  program.tree = tree;
  checker::Policy policy{*source, *tree, program, diagnostics, {}, false, 0, false, {}, {}, {}, {}, 0};
  policy.unread = unread;
  checker::declare_unread(policy);
  checker::declare_parameters(policy);
  checker::declare_states(policy);
  checker::declare_inputs(policy);
  checker::declare_functions(policy);
  checker::declare_budgets(policy);
  checker::declare_refill(policy);
  checker::declare_hit(policy);
  checker::check_handlers(policy);
  checker::check_migrations(policy);
  checker::check_tests(policy);
  if (!diagnostics.has_errors()) checker::warn_of_unused(policy);
  if (diagnostics.has_errors() && !failed_before) return std::nullopt;
  return program;
}

}  // namespace checker

std::optional<Program> check(std::shared_ptr<const Source> source, Diagnostics& diagnostics) {
  return check(source, diagnostics, nullptr);
}

std::optional<Program> check(std::shared_ptr<const Source>& source, Diagnostics& diagnostics,
                             std::shared_ptr<const Library> library) {
  std::optional<tree::File> parsed = parse(*source, diagnostics);
  std::optional<Program> program;
  if (parsed && parsed->imports.empty() && parsed->members.empty()) {
    const bool unread = diagnostics.has_errors();
    program = checker::check_file(source, std::make_shared<const tree::File>(*std::move(parsed)), unread, diagnostics);
  } else if (parsed) {
    diagnostics = Diagnostics();  // the file is read again, among those that it uses
    program = compose::compose(source, *parsed, library.get(), diagnostics);
  }
  diagnostics.sort();
  if (diagnostics.has_errors()) return std::nullopt;
  if (program) program->library = std::move(library);
  return program;
}

std::string hashed_text(const Source& source) {
  if (source.file_count() == 1) return std::string(source.text());
  std::string text;
  for (std::size_t i = 0; i < source.file_count(); ++i) {
    const std::string_view file = source.file_text(i);
    // A file's own name, without the folders of this machine; its length, so that no text can pass for another.
    const std::string& path = source.name(source.file(i).begin);
    text += path.substr(path.rfind('/') + 1) + " " + std::to_string(file.size()) + "\n";
    text += file;
  }
  return text;
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
