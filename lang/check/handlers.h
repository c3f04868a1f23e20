// Handlers: which point, then statement by statement to rules and effects.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lang/check/expressions.h"
#include "lang/check/points.h"
#include "lang/check/warnings.h"

namespace allot::lang::checker {

void check_handlers(Policy& policy);

// One handler of a point that this version runs.
class HandlerChecker {
 public:
  // `number`: N of `turn N` and its like.
  HandlerChecker(Policy& policy, const tree::Handler& handler, const PointRow& point, std::optional<ReadArgument> number);
  Handler check();

 private:
  void statement(const tree::Statement& statement, std::vector<Effect>& effects, std::vector<std::int32_t>* owned,
                 int depth);
  void rule(const tree::Statement& statement);
  void condition_again(const tree::Statement& statement);
  VerdictTemplate verdict(const tree::Verdict& verdict);
  void action(const tree::Action& action, VerdictTemplate& into);
  bool allowed(const tree::Action& action);
  // A count of rollouts; where `over` is a scope, a vector of them over it may stand there too, or must.
  enum class Counts { One, OneOrVector, Vector };
  NodeId amount(tree::ExprId id, std::string_view role, Counts counts = Counts::One, Scope over = Scope::Single);
  void more_of_none(const tree::Verdict& verdict);
  void start(const tree::Action& action, VerdictTemplate& into);
  void train(const tree::Action& action, VerdictTemplate& into);
  NodeId stop_where(tree::ExprId condition, Span span);
  // answers.cpp
  void branch(const tree::Action& action, VerdictTemplate& into);
  NodeId age(tree::ExprId id, std::string_view role);
  void defer(const tree::Action& action, VerdictTemplate& into);
  void evict(const tree::Action& action, VerdictTemplate& into);
  void readmit(const tree::Action& action, VerdictTemplate& into);
  void take(const tree::Action& action, VerdictTemplate& into);
  void replay(const tree::Action& action, VerdictTemplate& into);
  void set(const tree::Action& action, VerdictTemplate& into);
  void keys();
  // A vector over `scope`: written as one, or as an expression with `variable` for each element.
  NodeId each(tree::ExprId id, Scope scope, std::string_view variable, const Type& wanted, std::string_view role);
  NodeId shaped(tree::ExprId id, std::string_view role, bool one_too, bool turns_too = false);

  void remember(const tree::Statement& statement, std::vector<Effect>& effects);
  bool may_remember(const tree::Statement& statement, const State& state, const Binding& binding);
  void written_twice(const Effect& effect, const std::vector<Effect>& before, const std::string& what);
  void report(const tree::Statement& statement, std::vector<Effect>& effects);
  void warn(const tree::Statement& statement, std::vector<Effect>& effects);
  void for_each(const tree::Statement& statement, std::vector<Effect>& effects, int depth);

  Policy& policy_;
  const tree::Handler& tree_;
  const PointRow& point_;
  Builder builder_;
  Expressions expressions_;
  Shaped shaped_{builder_};
  std::optional<Span> closed_;  // the `otherwise` or bare verdict after which nothing answers
  std::vector<std::pair<std::string, Span>> conditions_;
};

}  // namespace allot::lang::checker
