// One evaluation of one handler: a walk over its typed tree. This is what the language means; machine code is tested
// against it.
//
// Rules that hold everywhere:
//   - What nobody demands is not evaluated, so it cannot fault. A `let` is evaluated at its first use and remembered
//     until the scope that owns it is entered again.
//   - Operands go left to right. An undefined operand gives an undefined result, after all operands were evaluated.
//   - An undefined condition neither holds nor fails: `when`, `where` and `warn` pass it by.
//   - Where the stack of the thread has no room for the tree, that is an OutOfMemory fault.
//   - A fact, element or state whose type says that it is always there and yet is not is a Domain fault at its node:
//     the host broke its word, and no number is made up.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/stack.h"
#include "compiler/builtins/table.h"
#include "compiler/executable.h"
#include "lang/program.h"

namespace allot::compiler {

// A remembered `let`, valid while `serial` is that of the running call.
struct Memo {
  std::uint64_t serial = 0;
  Value value;
};

// The walk of a loop: where it stands, and its vector where it has one of its own.
struct Cursor {
  std::int64_t position = 0;
  Column source;
};

// Memory of the thread that evaluates; grows to the largest handler and stays.
struct Workspace {
  std::uint64_t serial = 0;
  std::vector<Memo> memos;
  std::vector<Cursor> cursors;
};

class Walk {
 public:
  Walk(const lang::Handler& handler, std::span<const Function> functions, const Frame& frame, Workspace& workspace)
      : handler_(handler), functions_(functions), frame_(frame), workspace_(workspace) {}

  // False: a fault, told by `fault` and `fault_node`.
  bool value(lang::NodeId id, Value& out) noexcept;

  FaultKind fault() const { return fault_; }
  lang::NodeId fault_node() const { return fault_node_; }
  // Always false, so that a fault is one statement.
  bool fail(FaultKind fault, lang::NodeId id) noexcept;

  // Entering a scope or the next element of a `for each`.
  void forget(std::span<const std::int32_t> lets) noexcept;
  // Sets `size`, and the vector of the loop's own where it has one.
  bool enter(std::int32_t loop, std::int64_t& size) noexcept;
  void move(std::int32_t loop, std::int64_t position) noexcept { cursor(loop).position = position; }

 private:
  const lang::Node& node(lang::NodeId id) const { return handler_.nodes[static_cast<std::size_t>(id)]; }
  Cursor& cursor(std::int32_t loop) { return workspace_.cursors[static_cast<std::size_t>(loop)]; }
  bool load(lang::NodeId id, const Cell& cell, Value& out) noexcept;
  bool both(const lang::Node& node, Value& left, Value& right) noexcept;

  // leaves.cpp
  bool element(lang::NodeId id, Value& out) noexcept;
  bool state(lang::NodeId id, Value& out) noexcept;
  bool at(lang::NodeId id, Value& out) noexcept;
  bool align(lang::NodeId id, Value& out) noexcept;
  // scalars.cpp
  bool unary(lang::NodeId id, Value& out) noexcept;
  bool arithmetic(lang::NodeId id, Value& out) noexcept;
  bool comparison(lang::NodeId id, Value& out) noexcept;
  // control.cpp
  bool let(lang::NodeId id, Value& out) noexcept;
  bool logical(lang::NodeId id, Value& out) noexcept;
  bool choose(lang::NodeId id, Value& out) noexcept;
  bool coalesce(lang::NodeId id, Value& out) noexcept;
  bool assume(lang::NodeId id, Value& out) noexcept;
  bool call(lang::NodeId id, Value& out) noexcept;
  // loops.cpp
  bool passes(const lang::Node& node, bool& holds) noexcept;
  bool reduce(lang::NodeId id, Value& out) noexcept;
  bool mean(lang::NodeId id, Value& out) noexcept;
  bool map(lang::NodeId id, Value& out) noexcept;
  bool list(lang::NodeId id, Value& out) noexcept;
  // allot.cpp
  bool present(lang::NodeId id, lang::NodeId whole, Value& out) noexcept;
  bool allot(lang::NodeId id, Value& out) noexcept;

  const lang::Handler& handler_;
  std::span<const Function> functions_;
  const Frame& frame_;
  Workspace& workspace_;
  const std::uintptr_t floor_ = stack_floor();
  FaultKind fault_ = FaultKind::None;
  lang::NodeId fault_node_ = -1;
};

}  // namespace allot::compiler
