// Expressions: names, types, units and undefined, from the tree to typed nodes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/builtins.h"
#include "lang/check/builder.h"
#include "lang/check/policy.h"
#include "lang/check/range.h"

namespace allot::lang::checker {

// Where an expression stands, which decides what it may read.
struct Where {
  Point point = Point::Eval;
  Subject subject = Subject::Run;
  bool hit = false;       // the `hit` condition: facts of the rollout by their bare names
  bool constant = false;  // a default or an initial value: no facts, parameters or state
  bool eval = false;      // `allot eval`, where a constant may be computed but there is no file and no run
};

class Expressions {
 public:
  Expressions(Policy& policy, Builder& builder, Where where)
      : policy_(policy), builder_(builder), where_(where), ranges_(policy, builder) {}

  NodeId check(tree::ExprId id);
  // `role` names what is expected in messages: "`N` of `sample N more`".
  NodeId check_as(tree::ExprId id, const Type& expected, std::string_view role);
  NodeId condition(tree::ExprId id);  // a bool that is defined
  NodeId fit(NodeId node, tree::ExprId id, const Type& expected, std::string_view role);
  // A number that must lie in low..high: told now where it is known, else a fault at run time.
  NodeId refine(NodeId node, tree::ExprId id, double low, double high, std::string_view role);
  std::vector<MessagePart> message(tree::ExprId id, int& holes);

  // The loop over `source`, with `variable` declared in a frame of its own that the caller leaves; -1 after an error.
  int open_loop(tree::ExprId source, const tree::Name& variable);
  int loop_over_rollouts(const Binding& group, Span span);
  // The loop over a scope, with `variable` as its element in a frame that the caller leaves: `r` of `stop where`.
  int open_scope(Scope scope, const std::string& variable, Span span);
  // A vector with elements of type `expected`; poison after an error.
  NodeId fit_elements(NodeId vector, tree::ExprId id, const Type& expected, std::string_view role);
  // One number as a plain real, whatever its unit: a key, a score, a weight.
  NodeId rank(NodeId node, tree::ExprId id, bool optional_too, std::string_view role);

  // A `turns` literal, a parameter, or g.turn; nothing after an error.
  std::optional<ReadArgument> read_argument(tree::ExprId id, BaseUnit unit, bool unit_needed, bool current_turn,
                                            std::string_view what);

  // Adds a local name; says so where it hides another.
  Binding* declare(Binding binding);
  void let(const tree::Name& name, tree::ExprId value, std::vector<std::int32_t>* owned);

  // ---- what is known to be defined
  std::vector<std::string> defined_when(tree::ExprId condition, bool holds);
  std::size_t narrow(const std::vector<std::string>& paths, std::optional<Span> rule = std::nullopt);
  void widen(std::size_t mark) { narrowed_.resize(mark); }
  void in_effect(bool effect) { in_effect_ = effect; }
  Ranges& ranges() { return ranges_; }

 private:
  using Body = std::function<NodeId(const std::vector<NodeId>&)>;
  enum class Guard { Elements, None };

  const tree::Expr& expr(tree::ExprId id) const { return policy_.tree[id]; }
  const Type& type(NodeId id) const { return builder_.type(id); }

  // expressions.cpp
  NodeId number(const tree::Expr& e, bool negative);
  NodeId unary(tree::ExprId id);
  NodeId if_else(tree::ExprId id);
  std::string as_operand(tree::ExprId id) const;
  std::string rounded(NodeId node, tree::ExprId id) const;
  bool known(NodeId condition, bool answer) const;  // it is a constant, and that one
  NodeId check_unless(bool dead, tree::ExprId id);  // dead: nothing ever asks for it, so it cannot fault
  NodeId is_undefined(tree::ExprId id);
  NodeId coalesce(tree::ExprId id);
  NodeId logic(tree::ExprId id);

  // arithmetic.cpp
  NodeId arithmetic(tree::ExprId id);
  NodeId multiply(Op op, NodeId left, NodeId right, Span span);  // or divide
  NodeId matrix_product(NodeId left, NodeId right, tree::ExprId id);
  NodeId compare(tree::ExprId id);
  NodeId compare_pair(const std::string& op, NodeId a, NodeId b, tree::ExprId left, tree::ExprId right, Span span,
                      tree::ExprId whole);
  // Brings two numbers to one base and unit; the common type, or nothing after an error.
  std::optional<Type> unify(NodeId& a, NodeId& b, tree::ExprId left, tree::ExprId right, std::string_view code,
                            std::string_view words);
  void units_clash(std::string_view code, std::string_view words, const Type& a, const Type& b, tree::ExprId left,
                   tree::ExprId right);
  std::string another_fact(std::string_view code, tree::ExprId left, tree::ExprId right, const Type& a, const Type& b);
  std::string one_for_each(tree::ExprId left, tree::ExprId right, const Type& a, const Type& b) const;
  std::string brackets_for(std::string_view words, tree::ExprId left, tree::ExprId right) const;
  bool bare(tree::ExprId id) const;
  NodeId to_real(NodeId id);

  // undefined.cpp
  // One value, or a vector as a whole.
  bool require_defined(NodeId node, tree::ExprId id, tree::ExprId whole);
  bool require_elements(NodeId node, tree::ExprId id);
  void undefined_here(NodeId node, tree::ExprId id, tree::ExprId whole);
  NodeId assume_if_known(NodeId node, const std::string& path);
  std::string path(tree::ExprId id);
  std::string why_undefined(NodeId node) const;

  // paths.cpp
  NodeId name(tree::ExprId id);
  NodeId field(tree::ExprId id);
  NodeId index(tree::ExprId id);
  NodeId element_at(NodeId vector, tree::ExprId id);
  NodeId state(Binding& binding, tree::ExprId id, tree::ExprId key);
  NodeId use(Binding& binding, Span span);
  Binding* subject(tree::ExprId id);
  void unknown_name(tree::ExprId id);

  // reads.cpp
  NodeId fact(const FactRow& row, const Binding* subject, tree::ExprId id, std::vector<ReadArgument> arguments = {});
  NodeId vector_of_each(const FactRow& row, const Binding& owner, tree::ExprId id);
  NodeId at_place(int column, const Type& type, int loop, Span span);
  NodeId budget(tree::ExprId id, const std::string& word, std::string unit);
  NodeId hit_fact(const FactRow& row, tree::ExprId id);
  bool refuse_fact(const FactRow& row, tree::ExprId id);

  // vectors.cpp
  std::optional<Type> common_shape(const std::vector<NodeId>& operands, Span span);
  NodeId lift(std::vector<NodeId> operands, Span span, const Body& body, Guard guard = Guard::Elements);
  NodeId aligned(const std::vector<NodeId>& operands, NodeId source, Scope scope, Span span);
  NodeId assumed(NodeId element, Span span, std::vector<NodeId>& tests, std::vector<std::int32_t>& owned);
  NodeId unless_any(const std::vector<NodeId>& tests, NodeId result, Span span);
  NodeId repeatable(NodeId vector, std::vector<std::int32_t>& owned);
  NodeId in_scope(NodeId body, std::vector<std::int32_t> owned, Span span);
  NodeId to_reals(NodeId node);
  NodeId where(tree::ExprId id);
  NodeId elementwise(tree::ExprId id);

  // loops.cpp
  NodeId reduce_vector(Reduction reduction, NodeId vector, Span span);
  NodeId reduce(Reduction reduction, NodeId body, NodeId filter, int loop, Span span);
  NodeId comprehension(tree::ExprId id, std::optional<Reduction> reduction);
  // Where `name` is declared between two places of the text: after the word `after`. `otherwise` where it is not found.
  Span declared_at(std::uint32_t begin, std::uint32_t end, std::string_view after, const std::string& name,
                   Span otherwise) const;

  // allot.cpp
  NodeId allot(tree::ExprId id);
  NodeId allot_bound(tree::ExprId id, Type& unit, std::string_view role);
  struct Order {                     // in which the items of an allotment stand before its solver
    std::vector<std::int32_t> owned; // lets: what was walked, `places`, their inverse
    NodeId source = -1;              // what was walked before, where it is no scope
    NodeId inverse = -1;             // where in the order the item at a place stands
  };
  Order seeded_order(NodeId drawn, int loop, Binding& item, Span span);
  NodeId as_walked(NodeId counts, Order order, Scope scope, Span span);
  std::optional<Allotment> solver(tree::ExprId id, NodeId low, NodeId high, NodeId utility, int counts, NodeId first);

  // lists.cpp
  NodeId list(tree::ExprId id);
  std::optional<std::vector<tree::ExprId>> list_elements(const tree::Expr& list, Type& shape);

  // calls.cpp
  NodeId call(tree::ExprId id);
  NodeId reduce_one(Reduction reduction, tree::ExprId id);
  NodeId unknown_function(tree::ExprId id);
  NodeId builtin(int index, tree::ExprId id);
  NodeId extremes(int index, tree::ExprId id);  // min and max of three or more
  std::optional<std::vector<tree::ExprId>> arrange(const tree::Expr& call, const std::vector<std::string>& names,
                                                   const std::vector<char>& optional);

  // table_calls.cpp
  struct Taken;
  NodeId apply(int index, std::vector<NodeId> nodes, const std::vector<tree::ExprId>& ids, Span span);
  bool take(const Builtin& row, std::size_t i, std::vector<NodeId>& nodes, const std::vector<tree::ExprId>& ids,
            Taken& taken);
  bool take_vector(const Argument& argument, NodeId& node, tree::ExprId id, const std::string& role, Taken& taken);
  bool take_number(std::size_t i, std::vector<NodeId>& nodes, const std::vector<tree::ExprId>& ids,
                   const std::string& role, Taken& taken);
  bool vector_argument(const Argument& argument, NodeId node, tree::ExprId id, const std::string& role);
  bool meet(const Builtin& row, const std::vector<Type>& vectors, Span span);
  Type result_type(const Builtin& row, const Taken& taken, const std::vector<NodeId>& nodes) const;

  // inline.cpp
  NodeId inline_function(int index, tree::ExprId id);
  bool elements_unmet(NodeId node, const Type& wanted, tree::ExprId id, const tree::Param& param);
  NodeId refined(NodeId node, tree::ExprId id, const tree::TypeName& name, const std::string& role);

  // statistics.cpp
  NodeId statistic(tree::ExprId id);
  NodeId draw(tree::ExprId id);
  std::optional<ReadArgument> word(tree::ExprId id, const std::vector<std::string>& choices);
  const Binding* actions(tree::ExprId id, Subject owner);

  struct Known {
    std::string path;
    std::optional<Span> rule;  // known because this rule did not answer
  };

  Policy& policy_;
  Builder& builder_;
  Where where_;
  Ranges ranges_;
  std::vector<Known> narrowed_;
  bool in_effect_ = false;         // effects run whichever rule answered
  std::optional<Span> relies_on_;  // a rule on which what was just checked relies
};

std::string_view stand_in(const Type& type);        // what to write in place of what is undefined: "0.0"
std::string_view scope_word(StateScope scope);  // "prompt"
bool is_statistic(std::string_view name);
std::optional<Reduction> reduction_named(std::string_view name);
// The type that an author wrote; nothing after an error. `vec<T>` has Scope::List and fits a vector of any scope.
std::optional<Type> read_type(Policy& policy, const tree::TypeName& name);

}  // namespace allot::lang::checker
