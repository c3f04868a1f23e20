// Functions of the file: their names, that none calls itself, and their bodies checked once.
#include <algorithm>
#include <set>
#include <utility>

#include "lang/check/declarations.h"
#include "lang/check/expressions.h"
#include "lang/check/units.h"
#include "lang/limits.h"

namespace allot::lang::checker {
namespace {

void collect_calls(const tree::File& tree, tree::ExprId id, const Names& names,
                   std::vector<std::pair<int, Span>>& into) {
  if (id == tree::none) return;
  const tree::Expr& e = tree[id];
  if (e.kind == tree::ExprKind::Call) {
    if (const auto it = names.functions.find(e.text); it != names.functions.end()) into.push_back({it->second, e.span});
  }
  for (const tree::ExprId arg : e.args) collect_calls(tree, arg, names, into);
  for (const tree::StringPart& part : e.parts) collect_calls(tree, part.hole, names, into);
}

struct Recursion {
  Policy& policy;
  std::vector<char> state;  // 0 unseen, 1 on the path, 2 done
  std::vector<int> path;

  void visit(int function) {
    state[static_cast<std::size_t>(function)] = 1;
    path.push_back(function);
    std::vector<std::pair<int, Span>> calls;
    const tree::FunctionDecl& decl = policy.tree.functions[static_cast<std::size_t>(function)];
    collect_calls(policy.tree, decl.body, policy.names, calls);
    for (const auto& [callee, span] : calls) {
      if (state[static_cast<std::size_t>(callee)] == 0)
        visit(callee);
      else if (state[static_cast<std::size_t>(callee)] == 1)
        report(callee, span);
    }
    path.pop_back();
    state[static_cast<std::size_t>(function)] = 2;
  }

  void report(int callee, Span span) {
    std::string text;
    const auto begin = std::find(path.begin(), path.end(), callee);
    bool known = true;
    for (auto it = begin; it != path.end(); ++it) {
      char& broken = policy.broken_functions[static_cast<std::size_t>(*it)];
      known = known && broken;
      broken = 1;
      text += policy.tree.functions[static_cast<std::size_t>(*it)].name.text + " → ";
    }
    if (known) return;
    text += policy.tree.functions[static_cast<std::size_t>(callee)].name.text;
    policy.error("E0107", span, "a function cannot call itself", text,
                 "every policy must end: walk a collection with a comprehension instead");
  }
};

// The body is checked once by itself, so that a mistake is told once, called or not.
void check_body(Policy& policy, std::size_t index) {
  const tree::FunctionDecl& function = policy.tree.functions[index];
  const int errors_before = static_cast<int>(policy.diagnostics.all().size());
  const int nodes_before = policy.nodes;
  Builder builder(policy);
  Expressions expressions(policy, builder, Where{});
  policy.names.enter(true, function.imported);
  std::set<std::string> seen;
  bool broken = false;
  for (const tree::Param& param : function.params) {
    const std::optional<Type> type = read_type(policy, param.type);
    if (!seen.insert(param.name.text).second) {
      policy.error("E0102", param.name.span, quoted(param.name.text) + " is declared twice");
    }
    Binding binding = value_binding(param.name, "argument");
    if (!type) {
      broken = true;
      binding.meaning = Meaning::Poison;
    } else {
      Node node;
      node.op = type->vector() ? Op::Column : Op::Let;  // stands for whatever the call will bring
      node.type = *type;
      node.index = type->vector()
                       ? builder.column({Fact::Reward, {}, Scope::List, *type, param.name.text, param.name.span})
                       : builder.let(param.name.text, builder.constant(Cell::undefined(), *type, param.name.span));
      binding.node = node;
    }
    expressions.declare(std::move(binding));
  }
  std::optional<Type> result = read_type(policy, function.result);
  if (!result) {
    broken = true;
  } else {
    NodeId body = expressions.check(function.body);
    if (body != poison) adopt_shape(*result, builder.type(body));
    if (body != poison) {
      body = expressions.fit(body, function.body, *result, "the result of " + quoted(function.name.text));
    }
    broken = broken || body == poison;
  }
  policy.names.leave();
  for (std::size_t i = static_cast<std::size_t>(errors_before); i < policy.diagnostics.all().size(); ++i) {
    broken = broken || policy.diagnostics.all()[i].severity == Severity::Error;
  }
  if (broken) policy.broken_functions[index] = 1;
  policy.body_nodes += policy.nodes - nodes_before;
  if (policy.too_large) return;
  policy.nodes = nodes_before;
  // A chain of functions is put in place anew for each of them: all bodies together have a bound too.
  if (policy.body_nodes <= 2 * limits.typed_nodes) return;
  policy.too_large = true;
  policy.error("E0108", function.name.span, "the functions are too large once they stand in place of their calls", "",
               "call functions less deeply");
}

}  // namespace

void declare_functions(Policy& policy) {
  const std::vector<tree::FunctionDecl>& functions = policy.tree.functions;
  policy.broken_functions.assign(functions.size(), 0);
  policy.names.function_used.assign(functions.size(), 0);
  const auto of_language = [](const std::string& name) {
    return find_builtin(name) >= 0 || is_statistic(name) || reduction_named(name) || name == "draw" || name == "where" ||
           name == "elementwise" ||
           name == "prefixes" || name == "actions_at";
  };
  for (const tree::ImportDecl& import : policy.tree.imports) {
    if (!of_language(import.alias.text)) continue;
    policy.error("E0103", import.alias.span, quoted(import.alias.text) + " is a function of the language", "",
                 "choose another name: `import " + import.file.text + " as …`");
  }
  for (std::size_t i = 0; i < functions.size(); ++i) {
    const tree::Name& name = functions[i].name;
    const bool built_in = of_language(name.text);
    const auto it = policy.names.functions.find(name.text);
    if (built_in) {
      policy.error("E0103", name.span, quoted(name.text) + " is a function of the language", "", "choose another name");
    } else if (it != policy.names.functions.end()) {
      policy.error("E0102", name.span, quoted(name.text) + " is declared twice", "this is the second function", "",
                   {{functions[static_cast<std::size_t>(it->second)].name.span, "the first one"}});
    } else {
      policy.names.functions[name.text] = static_cast<int>(i);
    }
  }
  Recursion recursion{policy, std::vector<char>(functions.size(), 0), {}};
  for (std::size_t i = 0; i < functions.size(); ++i) {
    if (recursion.state[i] == 0) recursion.visit(static_cast<int>(i));
  }
  for (std::size_t i = 0; i < functions.size(); ++i) {
    if (!policy.broken_functions[i]) check_body(policy, i);
  }
  // A function called only by unused ones is unused as well: what the bodies called does not count.
  policy.names.function_used.assign(functions.size(), 0);
}

}  // namespace allot::lang::checker
