// Handlers: which point, then statement by statement to rules and effects.
#pragma once

#include <string>
#include <vector>

#include "lang/check/expressions.h"
#include "lang/check/points.h"

namespace allot::lang::checker {

void check_handlers(Policy& policy);

// One handler of a point that this version runs.
class HandlerChecker {
 public:
  HandlerChecker(Policy& policy, const tree::Handler& handler, const PointRow& point);
  Handler check();  // the number is set by the caller

 private:
  void statement(const tree::Statement& statement, std::vector<Effect>& effects, std::vector<std::int32_t>* owned,
                 int depth);
  void rule(const tree::Statement& statement);
  void condition_again(const tree::Statement& statement);
  VerdictTemplate verdict(const tree::Verdict& verdict);
  void action(const tree::Action& action, VerdictTemplate& into);
  bool allowed(const tree::Action& action);
  NodeId amount(tree::ExprId id, std::string_view role, bool vector_allowed);
  void train(const tree::Action& action, VerdictTemplate& into);
  NodeId stop_where(tree::ExprId condition, Span span);

  void remember(const tree::Statement& statement, std::vector<Effect>& effects);
  bool may_remember(const tree::Statement& statement, const State& state, const Binding& binding);
  void report(const tree::Statement& statement, std::vector<Effect>& effects);
  void warn(const tree::Statement& statement, std::vector<Effect>& effects);
  void for_each(const tree::Statement& statement, std::vector<Effect>& effects, int depth);

  Policy& policy_;
  const tree::Handler& tree_;
  const PointRow& point_;
  Builder builder_;
  Expressions expressions_;
  std::optional<Span> closed_;  // the `otherwise` or bare verdict after which nothing answers
  std::vector<std::pair<std::string, Span>> conditions_;
};

}  // namespace allot::lang::checker
