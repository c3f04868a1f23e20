// Vectors, matrices and allotments of random expressions.
#include "tests/compiler/random_expression.h"

namespace allot::compiler::test {

NodeId Expression::vector(Base base, int depth) {
  NodeId id = -1;
  std::vector<int> columns;
  const auto& all = builder_.handler().columns;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].type.base == base && !all[i].type.matrix()) columns.push_back(static_cast<int>(i));
  const auto column = [&] {
    const int choice = dice_.below(static_cast<int>(columns.size()));
    return builder_.column_node(columns[static_cast<std::size_t>(choice)]);
  };
  if (depth <= 0) return column();
  switch (dice_.below(11)) {
    case 0:
    case 1:
      return column();
    case 2:
      if (used_let(base, true, Shape::Vector, id)) return id;
      return column();
    case 3: {
      std::vector<NodeId> items;
      bool undefined = false;
      for (int i = dice_.below(4); i > 0; --i) {
        items.push_back(scalar(base, dice_.once_in(3), depth - 1));
        undefined = undefined || optional(items.back());
      }
      return builder_.add(Op::ListOf, type(base, undefined, Scope::List), items);
    }
    case 7: {
      const NodeId first = vector(base, depth - 1);
      const NodeId second = vector(base, depth - 1);
      const bool undefined = optional(first) || optional(second);
      if (dice_.once_in(2)) return builder_.add(Op::Coalesce, type(base, undefined, Scope::List), {first, second});
      const NodeId condition = scalar(Base::Bool, dice_.once_in(2), depth - 1);
      return builder_.add(Op::If, type(base, undefined, Scope::List), {condition, first, second});
    }
    case 8: {
      const NodeId first = vector(base, depth - 1);
      return builder_.add(Op::Align, type_of(first), {first, dice_.once_in(6) ? vector(base, 0) : first});
    }
    case 9:
      if (base == Base::Real) {
        Type three = type(base, false, Scope::List);
        three.rows = 3;
        return builder_.add(Op::State, three, {leaf(Base::Prompt, false)}, 5);
      }
      return pair(base, depth - 1);
    case 10:
      return pair(base, depth - 1);
    case 4:
    case 5:
      if (base == Base::Int && dice_.once_in(2)) return allot(depth - 1);
      if (base != Base::Bool) return call(base, false, Shape::Vector, depth - 1);
      [[fallthrough]];
    default: {
      const NodeId source = dice_.once_in(4) ? vector(Base::Real, depth - 1) : -1;
      const Scope scope = any_scope();
      const int loop = open(source >= 0 ? Scope::List : scope, source);
      std::vector<NodeId> args{scalar(base, dice_.once_in(2), depth - 1)};
      const bool undefined = optional(args.front());
      if (dice_.once_in(3)) args.push_back(scalar(Base::Bool, true, depth - 1));
      close();
      return builder_.add(Op::Map, type(base, undefined, Scope::List), args, -1, loop);
    }
  }
}

// Mostly bounds that have an allotment; any solver and any utility, concave or not: all engines ask alike.
NodeId Expression::allot(int depth) {
  const NodeId budget = dice_.once_in(4) ? scalar(Base::Int, false, depth) : builder_.integer(dice_.below(12));
  const NodeId source = dice_.once_in(4) ? vector(Base::Real, depth) : -1;
  const int loop = open(source >= 0 ? Scope::List : any_scope(), source);
  const int least = dice_.below(2);
  const NodeId low = builder_.integer(least);
  const NodeId high = dice_.once_in(6) ? scalar(Base::Int, false, depth) : builder_.integer(least + dice_.below(5));
  lang::Allotment how;
  how.solver = static_cast<lang::Solver>(dice_.below(3));
  how.counts = open(Scope::Single);
  const NodeId utility = scalar(Base::Real, false, depth);
  close();
  close();
  builder_.handler().allotments.push_back(how);
  return builder_.add(Op::Allot, type(Base::Int, true, Scope::List), {budget, low, high, utility},
                      static_cast<int>(builder_.handler().allotments.size()) - 1, loop);
}

// Few sizes, so that matrices and vectors often fit each other.
NodeId Expression::pair(Base base, int depth) {
  std::vector<NodeId> items;
  for (int i = dice_.once_in(4) ? 3 : 2; i > 0; --i) items.push_back(scalar(base, false, depth - 1));
  return builder_.add(Op::ListOf, type(base, false, Scope::List), items);
}

NodeId Expression::at(Base base, int depth) {
  const auto position = [&] {
    return dice_.once_in(12) ? scalar(Base::Int, false, depth - 1) : builder_.integer(dice_.below(2));
  };
  if (base == Base::Real && dice_.once_in(3)) {
    const NodeId of = matrix(depth);
    const NodeId row = position();
    return builder_.add(Op::At, type(base), {of, row, position()});
  }
  const NodeId of = dice_.once_in(3) ? vector(base, depth) : pair(base, depth);
  return builder_.add(Op::At, type(base, optional(of)), {of, position()});
}

NodeId Expression::matrix(int depth) {
  NodeId id = -1;
  const auto written = [&] {
    const int rows = dice_.once_in(4) ? 1 + dice_.below(3) : 2;
    const int columns = dice_.once_in(6) ? 3 : 2;
    std::vector<NodeId> items;
    for (int i = 0; i < rows * columns; ++i) items.push_back(scalar(Base::Real, false, depth > 1 ? 1 : 0));
    return builder_.add(Op::ListOf, matrix_type(rows, columns), items);
  };
  switch (dice_.below(depth <= 0 ? 3 : 9)) {
    case 0: {
      const auto& all = builder_.handler().columns;
      for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i].type.matrix()) return builder_.column_node(static_cast<int>(i));
      return written();
    }
    case 1:
      return builder_.add(Op::State, matrix_type(2, 2), {}, 6);
    case 2:
      return written();
    case 3:
      if (used_let(Base::Real, true, Shape::Matrix, id)) return id;
      return written();
    case 4: {
      const NodeId source = matrix(depth - 1);
      const int loop = open(Scope::List, source);
      const NodeId body = scalar(Base::Real, false, depth - 1);
      close();
      return builder_.add(Op::Map, matrix_type(), {body}, -1, loop);
    }
    case 5: {
      const NodeId first = matrix(depth - 1);
      if (dice_.once_in(2)) return builder_.add(Op::Coalesce, matrix_type(), {first, matrix(depth - 1)});
      if (dice_.once_in(2)) return builder_.add(Op::Align, matrix_type(), {first, matrix(0)});
      const NodeId condition = scalar(Base::Bool, false, depth - 1);
      return builder_.add(Op::If, matrix_type(), {condition, first, matrix(depth - 1)});
    }
    default:
      return call(Base::Real, true, Shape::Matrix, depth - 1);
  }
}

NodeId Expression::list(Base base, int size, int depth) {
  std::vector<NodeId> items;
  for (int i = 0; i < size; ++i) items.push_back(scalar(base, false, depth - 1));
  return builder_.add(Op::ListOf, type(base, false, Scope::List), items);
}

// What most functions of matrices want: symmetric, and every second one positive definite.
NodeId Expression::symmetric(int depth) {
  const auto& all = builder_.handler().columns;
  switch (dice_.below(4)) {
    case 0:
      for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i].type.matrix()) return builder_.column_node(static_cast<int>(i));
      [[fallthrough]];
    case 1: {
      const NodeId gram = builder_.call(dice_.once_in(3) ? "cosine_gram" : "gram", matrix_type(), {matrix(depth - 1)});
      return builder_.call("ridge", matrix_type(), {gram, builder_.real(0.5 * (1 + dice_.below(4)))});
    }
    case 2:
      return builder_.call("gram", matrix_type(), {matrix(depth - 1)});
    default: {
      const auto number = [&](int most) { return builder_.real(0.25 * dice_.below(most)); };
      const double across = 0.25 * (dice_.below(9) - 4);
      return builder_.add(Op::ListOf, matrix_type(2, 2),
                          {number(12), builder_.real(across), builder_.real(across), number(12)});
    }
  }
}

}  // namespace allot::compiler::test
