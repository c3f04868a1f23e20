// Random well-typed expressions: what stands in scope, and how deep they may still go.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "lang/builtins.h"
#include "tests/compiler/random_program.h"

namespace allot::compiler::test {

class Expression {
 public:
  Expression(Builder& builder, Dice& dice, std::array<Scope, 2> scopes)
      : builder_(builder), dice_(dice), scopes_(scopes) {}

  void add_read(Type of);
  void add_parameter(Type of, Cell value);
  // A let of random type over what is in scope now; visible until hidden.
  int add_let(int depth);
  void hide(std::size_t lets) { visible_.resize(visible_.size() - lets); }
  int open(Scope scope, NodeId source = -1);  // a loop; its elements are in scope until closed
  void close() { loops_.pop_back(); }

  // `may`: may be undefined.
  NodeId scalar(Base base, bool may, int depth);
  NodeId vector(Base base, int depth);
  NodeId matrix(int depth);
  NodeId allot(int depth);
  NodeId reduce(Base base, bool may, int depth);
  NodeId builtin(int index, int depth);  // a call of that row of the table, whatever it gives
  bool optional(NodeId id) const { return type_of(id).optional; }

 private:
  struct Open {
    int loop;
    Scope scope;
    NodeId source;
  };

  const Type& type_of(NodeId id) const {
    return builder_.program.handlers.front().nodes[static_cast<std::size_t>(id)].type;
  }
  NodeId leaf(Base base, bool may);
  NodeId constant(Base base);
  bool element(Base base, bool may, NodeId& id);
  NodeId state(Base base, bool may);
  NodeId choose(Base base, bool may, int depth);
  NodeId scope(Base base, bool may, int depth);
  NodeId special(Base base, bool may, int depth);
  NodeId number(Base base, bool may, int depth);
  NodeId truth(bool may, int depth);
  enum class Shape { One, Vector, Matrix };
  static Shape shape_of(const Type& type);
  static bool gives(const lang::Builtin& row, Shape shape);
  NodeId call(Base base, bool may, Shape shape, int depth);
  NodeId call_of(int index, Base base, Shape shape, int depth);
  NodeId argument(const lang::Builtin& row, const lang::Argument& argument, Base number, Shape wanted, int size,
                  int depth);
  NodeId positions(std::string_view name, int size);
  NodeId list(Base base, int size, int depth);
  NodeId symmetric(int depth);
  Scope any_scope() { return scopes_[dice_.once_in(3) ? 1 : 0]; }
  NodeId pair(Base base, int depth);  // a list of two or three that are always there
  NodeId at(Base base, int depth);
  bool used_let(Base base, bool may, Shape shape, NodeId& id);

  Builder& builder_;
  Dice& dice_;
  std::array<Scope, 2> scopes_;  // what columns run over, beside lists
  std::vector<Type> reads_;
  std::vector<NodeId> parameters_;
  std::vector<int> visible_;
  std::vector<Open> loops_;
};

}  // namespace allot::compiler::test
