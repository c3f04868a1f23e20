// Calls of random expressions. Arguments are mostly such as the function takes: one that always faults proves little.
#include <string_view>

#include "tests/compiler/random_expression.h"

namespace allot::compiler::test {

using lang::ArgumentKind;
using lang::ResultKind;

namespace {

bool one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  for (const std::string_view each : names) {
    if (name == each) return true;
  }
  return false;
}

Base base_of(const lang::Builtin& row, Base number) {
  switch (row.result) {
    case ResultKind::Int:
    case ResultKind::IntVector:
    case ResultKind::IntsAlong:
      return Base::Int;
    case ResultKind::Bool:
      return Base::Bool;
    case ResultKind::Beta:
      return Base::Beta;
    case ResultKind::Number:
      return number == Base::Int ? Base::Int : Base::Real;
    default:
      return Base::Real;
  }
}

}  // namespace

// A list whose elements name positions, classes or parents of `size` others.
NodeId Expression::positions(std::string_view name, int size) {
  std::vector<NodeId> items;
  for (int i = 0; i < size; ++i) {
    const int value = name == "parents" ? dice_.below(i + 1) - 1
                      : name == "at"    ? dice_.below(size + 1) - 1
                                        : dice_.below(2);
    items.push_back(builder_.integer(value));
  }
  return builder_.add(Op::ListOf, type(Base::Int, false, Scope::List), items);
}

// `size`: how long the lists of this call are, so that they mostly fit each other.
NodeId Expression::argument(const lang::Builtin& row, const lang::Argument& argument, Base number, Shape wanted,
                            int size, int depth) {
  const bool usual = !dice_.once_in(4);
  switch (argument.kind) {
    case ArgumentKind::Int:
      if (usual) return builder_.integer(argument.name == "k" ? 1 : dice_.below(argument.name == "ddof" ? 2 : 8));
      return scalar(Base::Int, false, depth);
    case ArgumentKind::Real:
      return dice_.once_in(2) ? builder_.real(0.125 * (1 + dice_.below(8))) : scalar(Base::Real, false, depth);
    case ArgumentKind::Number: {
      const int sign = argument.name == "low" ? -1 : argument.name == "high" ? 1 : 0;
      if (sign == 0 || !usual) return scalar(number, false, depth);
      const int bound = sign * (2 + dice_.below(6));
      return number == Base::Int ? builder_.integer(bound) : builder_.real(0.5 * bound);
    }
    case ArgumentKind::Bool:
      return scalar(Base::Bool, false, depth);
    case ArgumentKind::Beta:
      return scalar(Base::Beta, false, depth);
    case ArgumentKind::IntVector:
      if (usual) return positions(argument.name, size);
      return dice_.once_in(2) ? pair(Base::Int, depth) : vector(Base::Int, depth);
    case ArgumentKind::BoolVector:
      return vector(Base::Bool, depth);
    case ArgumentKind::Matrix:
      if (usual && one_of(row.name, {"project", "reject"}))
        return builder_.call("top_eigenspace", matrix_type(), {symmetric(depth), builder_.integer(1)});
      return usual && !one_of(row.name, {"matmul", "transpose", "gram", "cosine_gram"}) ? symmetric(depth)
                                                                                        : matrix(depth);
    case ArgumentKind::Reals:
      return wanted == Shape::Matrix ? matrix(depth) : pair(Base::Real, depth);
    default:
      if (row.arguments.size() > 1 ? usual : argument.defined && usual) return list(Base::Real, size, depth);
      return vector(dice_.once_in(3) ? Base::Int : Base::Real, depth);
  }
}

// Whether the function can give one value, a vector, a matrix; a product gives both of the latter.
bool Expression::gives(const lang::Builtin& row, Shape shape) {
  switch (row.result) {
    case ResultKind::IntVector:
    case ResultKind::RealVector:
    case ResultKind::IntsAlong:
    case ResultKind::RealsAlong:
      return shape == Shape::Vector;
    case ResultKind::Transposed:
    case ResultKind::Square:
    case ResultKind::Outer:
      return shape == Shape::Matrix;
    case ResultKind::Product:
      return shape != Shape::One;
    case ResultKind::Same: {
      Shape last = Shape::One;
      for (const lang::Argument& argument : row.arguments) {
        if (argument.kind == ArgumentKind::Matrix) last = Shape::Matrix;
        if (argument.kind == ArgumentKind::RealVector) last = Shape::Vector;
      }
      return shape == last;
    }
    default:
      return shape == Shape::One;
  }
}

NodeId Expression::call_of(int index, Base base, Shape shape, int depth) {
  const lang::Builtin& row = lang::builtins()[static_cast<std::size_t>(index)];
  const int size = dice_.once_in(4) ? 3 : 2;
  std::vector<NodeId> args;
  for (const lang::Argument& one : row.arguments) args.push_back(argument(row, one, base, shape, size, depth - 1));
  const Type result = shape == Shape::Matrix   ? matrix_type()
                      : shape == Shape::Vector ? type(base, true, Scope::List)
                                               : type(base, row.result_optional);
  return builder_.add(Op::Call, result, args, index);
}

NodeId Expression::call(Base base, bool may, Shape shape, int depth) {
  std::vector<int> fitting;
  for (std::size_t i = 0; i < lang::builtins().size(); ++i) {
    const lang::Builtin& row = lang::builtins()[i];
    if (base_of(row, base) == base && gives(row, shape) && (may || !row.result_optional || shape != Shape::One))
      fitting.push_back(static_cast<int>(i));
  }
  return call_of(fitting[static_cast<std::size_t>(dice_.below(static_cast<int>(fitting.size())))], base, shape, depth);
}

NodeId Expression::builtin(int index, int depth) {
  const lang::Builtin& row = lang::builtins()[static_cast<std::size_t>(index)];
  const Base base = base_of(row, dice_.once_in(2) ? Base::Int : Base::Real);
  for (const Shape shape : {Shape::One, Shape::Vector, Shape::Matrix}) {
    if (gives(row, shape) && !(row.result == ResultKind::Product && shape == Shape::Vector && dice_.once_in(2)))
      return call_of(index, base, shape, depth);
  }
  return call_of(index, base, Shape::Matrix, depth);
}

}  // namespace allot::compiler::test
