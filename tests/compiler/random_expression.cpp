#include "tests/compiler/random_expression.h"

namespace allot::compiler::test {

using lang::Reduction;

void Expression::add_read(Type of) {
  builder_.read(of);
  reads_.push_back(of);
}

void Expression::add_parameter(Type of, Cell value) {
  parameters_.push_back(builder_.parameter(of, value));
}

int Expression::add_let(int depth) {
  const Base bases[] = {Base::Real, Base::Int, Base::Bool, Base::Beta, Base::Real};
  const NodeId value = dice_.once_in(12)  ? matrix(depth)
                       : dice_.once_in(4) ? vector(dice_.once_in(2) ? Base::Real : Base::Int, depth)
                                          : scalar(bases[dice_.below(5)], dice_.once_in(2), depth);
  visible_.push_back(builder_.let(value));
  return visible_.back();
}

int Expression::open(Scope scope, NodeId source) {
  loops_.push_back({builder_.loop(scope, source), scope, source});
  return loops_.back().loop;
}

NodeId Expression::constant(Base base) {
  switch (base) {
    case Base::Real:
      return builder_.real(0.25 * (dice_.below(17) - 8));
    case Base::Int:
      return builder_.integer(dice_.below(8) - 2);
    case Base::Bool:
      return builder_.truth(dice_.once_in(2));
    case Base::Beta:
      return builder_.constant(type(base), Cell::beta(1 + dice_.below(3), 1));
    default:
      return builder_.constant(type(base), Cell::of(std::int64_t{0}));
  }
}

bool Expression::element(Base base, bool may, NodeId& id) {
  std::vector<std::pair<int, std::pair<int, Type>>> found;  // loop, column, type
  const auto fits = [&](const Type& of) { return of.base == base && (may || !of.optional); };
  for (const Open& open : loops_) {
    if (open.source >= 0) {
      const Type of = element_type(type_of(open.source));
      if (fits(of)) found.push_back({open.loop, {-1, of}});
      continue;
    }
    const auto& columns = builder_.handler().columns;
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (columns[i].scope == open.scope && fits(columns[i].type))
        found.push_back({open.loop, {static_cast<int>(i), element_type(columns[i].type)}});
  }
  if (found.empty()) return false;
  const auto& one = found[static_cast<std::size_t>(dice_.below(static_cast<int>(found.size())))];
  id = builder_.add(Op::Element, one.second.second, {}, one.second.first, one.first);
  return true;
}

NodeId Expression::state(Base base, bool may) {
  switch (base) {
    case Base::Real:
      if (may && dice_.once_in(2)) return builder_.add(Op::State, type(base, true), {leaf(Base::Prompt, true)}, 3);
      return builder_.add(Op::State, type(base), {}, 0);
    case Base::Beta:
      return builder_.add(Op::State, type(base), {leaf(Base::Prompt, false)}, 1);
    case Base::Int:
      if (dice_.once_in(2)) return builder_.add(Op::State, type(base), {leaf(Base::Category, false)}, 4);
      return builder_.add(Op::State, type(base), {}, 2);
    default:
      return leaf(base, may);
  }
}

NodeId Expression::leaf(Base base, bool may) {
  NodeId id = -1;
  if (!loops_.empty() && !dice_.once_in(3) && element(base, may, id)) return id;
  if (!loops_.empty() && base == Base::Int && dice_.once_in(3)) {
    const Open& open = loops_[static_cast<std::size_t>(dice_.below(static_cast<int>(loops_.size())))];
    return builder_.add(Op::Position, type(Base::Int), {}, -1, open.loop);
  }
  switch (dice_.below(6)) {
    case 0:
      return constant(base);
    case 1:
      if (may) return builder_.undefined(base);
      return constant(base);
    case 2:
      for (const NodeId parameter : parameters_) {
        const Node copy = builder_.handler().nodes[static_cast<std::size_t>(parameter)];
        if (copy.type.base == base) return builder_.add(copy.op, copy.type, {}, copy.index);
      }
      break;
    case 3:
      if (base == Base::Real || base == Base::Int || base == Base::Beta) return state(base, may);
      break;
    default:
      break;
  }
  std::vector<int> fitting;
  for (std::size_t i = 0; i < reads_.size(); ++i)
    if (reads_[i].base == base && (may || !reads_[i].optional)) fitting.push_back(static_cast<int>(i));
  const int index = fitting[static_cast<std::size_t>(dice_.below(static_cast<int>(fitting.size())))];
  return builder_.add(Op::Read, reads_[static_cast<std::size_t>(index)], {}, index);
}

Expression::Shape Expression::shape_of(const Type& type) {
  return type.matrix() ? Shape::Matrix : type.vector() ? Shape::Vector : Shape::One;
}

bool Expression::used_let(Base base, bool may, Shape shape, NodeId& id) {
  std::vector<int> fitting;
  for (const int let : visible_) {
    const Type& of = type_of(builder_.handler().lets[static_cast<std::size_t>(let)].value);
    if (of.base == base && shape_of(of) == shape && (may || !of.optional)) fitting.push_back(let);
  }
  if (fitting.empty()) return false;
  id = builder_.use(fitting[static_cast<std::size_t>(dice_.below(static_cast<int>(fitting.size())))]);
  return true;
}

NodeId Expression::scalar(Base base, bool may, int depth) {
  NodeId id = -1;
  if (depth <= 0) return leaf(base, may);
  switch (dice_.below(12)) {
    case 0:
      return leaf(base, may);
    case 1:
    case 2:
      if (used_let(base, may, Shape::One, id)) return id;
      return leaf(base, may);
    case 3:
      return choose(base, may, depth - 1);
    case 4: {
      const NodeId first = scalar(base, true, depth - 1);
      const NodeId second = scalar(base, may, depth - 1);
      return builder_.add(Op::Coalesce, type(base, optional(second)), {first, second});
    }
    case 5:
      if (dice_.once_in(8)) return builder_.add(Op::Assume, type(base), {scalar(base, true, depth - 1)});
      return scope(base, may, depth - 1);
    default:
      return special(base, may, depth - 1);
  }
}

NodeId Expression::choose(Base base, bool may, int depth) {
  const NodeId condition = scalar(Base::Bool, may, depth);
  const NodeId then = scalar(base, may, depth);
  const NodeId otherwise = scalar(base, may, depth);
  const bool undefined = optional(condition) || optional(then) || optional(otherwise);
  return builder_.add(Op::If, type(base, undefined), {condition, then, otherwise});
}

NodeId Expression::scope(Base base, bool may, int depth) {
  std::vector<std::int32_t> owned;
  for (int i = 1 + dice_.below(2); i > 0; --i) owned.push_back(add_let(depth));
  const NodeId body = scalar(base, may, depth + 1);
  hide(owned.size());
  const NodeId id = builder_.add(Op::Scope, type(base, optional(body)), {body});
  builder_.handler().nodes.back().owned = owned;
  return id;
}

NodeId Expression::special(Base base, bool may, int depth) {
  switch (base) {
    case Base::Real:
    case Base::Int:
      return number(base, may, depth);
    case Base::Bool:
      return truth(may, depth);
    case Base::Beta:
      return call(Base::Beta, may, Shape::One, depth);
    default:
      return leaf(base, may);
  }
}

NodeId Expression::number(Base base, bool may, int depth) {
  switch (dice_.below(10)) {
    case 9:
      return at(base, depth);
    case 0: {
      const NodeId of = scalar(base, may, depth);
      return builder_.add(Op::Negate, type(base, optional(of)), {of});
    }
    case 1:
      if (base == Base::Real) {
        const NodeId of = scalar(Base::Int, may, depth);
        return builder_.add(Op::ToReal, type(base, optional(of)), {of});
      }
      [[fallthrough]];
    case 2:
      return reduce(base, may, depth);
    case 3:
    case 4:
      return call(base, may, Shape::One, depth);
    default: {
      const Op reals[] = {Op::Add, Op::Subtract, Op::Multiply, Op::Divide, Op::Modulo, Op::Add};
      const Op ints[] = {Op::Add, Op::Subtract, Op::Multiply, Op::Modulo, Op::Add, Op::Subtract};
      const NodeId left = scalar(base, may, depth);
      const NodeId right = scalar(base, may, depth);
      const int choice = dice_.below(6);
      const Op op = base == Base::Real ? reals[choice] : ints[choice];
      return builder_.add(op, type(base, optional(left) || optional(right)), {left, right});
    }
  }
}

NodeId Expression::truth(bool may, int depth) {
  switch (dice_.below(10)) {
    case 8:
      return builder_.add(Op::IsUndefined, type(Base::Bool), {vector(Base::Real, depth)});
    case 9:
      return builder_.add(Op::IsUndefined, type(Base::Bool), {matrix(depth)});
    case 0: {
      const NodeId of = scalar(Base::Bool, may, depth);
      return builder_.add(Op::Not, type(Base::Bool, optional(of)), {of});
    }
    case 1: {
      const Base bases[] = {Base::Real, Base::Int, Base::Beta, Base::Prompt, Base::Category};
      return builder_.add(Op::IsUndefined, type(Base::Bool), {scalar(bases[dice_.below(5)], true, depth)});
    }
    case 2:
      return reduce(Base::Bool, may, depth);
    case 3:
    case 4: {
      const NodeId left = scalar(Base::Bool, may, depth);
      const NodeId right = scalar(Base::Bool, may, depth);
      return builder_.add(dice_.once_in(2) ? Op::And : Op::Or, type(Base::Bool, optional(left) || optional(right)),
                          {left, right});
    }
    default: {
      const Base bases[] = {Base::Real, Base::Int, Base::Real, Base::Bool, Base::Prompt, Base::Category};
      const Base base = bases[dice_.below(6)];
      const bool ordered = base == Base::Real || base == Base::Int;
      const Op ops[] = {Op::Equal, Op::NotEqual, Op::Less, Op::LessEqual, Op::Greater, Op::GreaterEqual};
      const NodeId left = scalar(base, may, depth);
      const NodeId right = scalar(base, may, depth);
      return builder_.add(ops[dice_.below(ordered ? 6 : 2)], type(Base::Bool, optional(left) || optional(right)),
                          {left, right});
    }
  }
}

NodeId Expression::reduce(Base base, bool may, int depth) {
  Reduction reduction = Reduction::Sum;
  if (base == Base::Bool) {
    reduction = dice_.once_in(2) ? Reduction::Any : Reduction::All;
  } else if (may && !dice_.once_in(3)) {
    const Reduction choices[] = {Reduction::Min, Reduction::Max, base == Base::Real ? Reduction::Mean : Reduction::Min};
    reduction = choices[dice_.below(3)];
  } else if (base == Base::Int && dice_.once_in(2)) {
    reduction = Reduction::Count;
  }
  Base of = base;
  if (reduction == Reduction::Count) of = dice_.once_in(2) ? Base::Bool : Base::Real;
  if (reduction == Reduction::Mean && dice_.once_in(3)) of = Base::Int;
  const NodeId source = dice_.once_in(3) ? vector(dice_.once_in(2) ? Base::Real : Base::Int, depth - 1) : -1;
  const Scope scope = any_scope();
  const int loop = open(source >= 0 ? Scope::List : scope, source);
  std::vector<NodeId> args{scalar(of, true, depth)};
  if (dice_.once_in(3)) args.push_back(scalar(Base::Bool, true, depth - 1));
  close();
  const bool undefined = reduction == Reduction::Mean || reduction == Reduction::Min || reduction == Reduction::Max;
  return builder_.add(Op::Reduce, type(base, undefined), args, static_cast<int>(reduction), loop);
}

}  // namespace allot::compiler::test
