#include "lang/check/units.h"

namespace allot::lang::checker {

Unit of(BaseUnit unit) {
  Unit result;
  result.exponents[static_cast<std::size_t>(unit)] = 1;
  return result;
}

std::optional<BaseUnit> unit_named(std::string_view text) {
  for (int i = 0; i < base_unit_count; ++i) {
    const std::string_view plural = name(static_cast<BaseUnit>(i));
    if (text == plural || text == plural.substr(0, plural.size() - 1)) return static_cast<BaseUnit>(i);
  }
  return std::nullopt;
}

Unit product(const Unit& a, const Unit& b, int power_of_b) {
  Unit result = a;
  for (std::size_t i = 0; i < result.exponents.size(); ++i) {
    result.exponents[i] = static_cast<std::int8_t>(result.exponents[i] + power_of_b * b.exponents[i]);
  }
  return result;
}

Type plain(Base base) {
  Type type;
  type.base = base;
  return type;
}

Type count(BaseUnit unit) {
  Type type = plain(Base::Int);
  type.unit = of(unit);
  return type;
}

Type defined(Type type) {
  type.optional = false;
  return type;
}

Type optional(Type type) {
  type.optional = true;
  return type;
}

Type shaped(Type element, const Type& like) {
  element.scope = like.scope;
  element.across = like.across;
  element.rows = like.rows;
  element.columns = like.columns;
  element.missing = false;
  return element;
}

Type element_of(Type type) {
  return shaped(type, Type{});
}

Type vector_of(Type type, Scope scope) {
  Type like;
  like.scope = scope;
  return shaped(type, like);
}

Type matrix_of(Type element, int rows, int columns) {
  Type like;
  like.scope = like.across = Scope::List;
  like.rows = static_cast<std::int16_t>(rows);
  like.columns = static_cast<std::int16_t>(columns);
  return shaped(element, like);
}

bool same_shape(const Type& a, const Type& b) {
  const auto alike = [](int x, int y) { return x == y || x == 0 || y == 0; };
  return a.scope == b.scope && a.across == b.across && alike(a.rows, b.rows) && alike(a.columns, b.columns);
}

void adopt_shape(Type& wanted, const Type& given) {
  if (wanted.matrix() != given.matrix() || !wanted.vector() || !given.vector()) return;
  if (wanted.rows == 0) {
    wanted.scope = given.scope;
    wanted.rows = given.rows;
  }
  if (wanted.matrix() && wanted.columns == 0) {
    wanted.across = given.across;
    wanted.columns = given.columns;
  }
}

bool numeric(const Type& type) {
  return type.base == Base::Int || type.base == Base::Real;
}

std::string describe(Scope scope) {
  switch (scope) {
    case Scope::Single:
      return "one value";
    case Scope::Rollouts:
      return "a vector over the rollouts of a group";
    case Scope::Groups:
      return "a vector over the open groups";
    case Scope::Ended:
      return "a vector over the ended groups";
    case Scope::Prompts:
      return "a vector over the prompts of the batch";
    case Scope::List:
      return "a list of the policy's own";
    case Scope::Pool:
      return "a vector over the prompts that may be drawn";
    case Scope::Known:
      return "a vector over all prompts of the pool";
    case Scope::Turns:
      return "a vector over the turns of a rollout";
    case Scope::AllTurns:
      return "a vector over all turns of a group";
    case Scope::Trained:
      return "a vector over the rollouts of the micro-batch";
    case Scope::Stored:
      return "a vector over the stored groups";
    case Scope::Anchors:
      return "a vector over the anchors";
    case Scope::GroupRollouts:
    case Scope::EndedRollouts:
    case Scope::StoredRollouts:
      return "a vector over the rollouts of all groups";
  }
  return "";
}

std::string describe(const Type& type) {
  const std::string whole = type.missing ? " or undefined" : "";
  if (type.matrix()) {
    if (type.rows > 0 && type.columns > 0) {
      return "a matrix of " + std::to_string(type.rows) + " by " + std::to_string(type.columns) + whole;
    }
    return (type.scope == Scope::List ? "a matrix" : "a matrix" + describe(type.scope).substr(8)) + whole;
  }
  if (type.vector() && type.scope == Scope::List && type.rows > 0) {
    return "a list of " + std::to_string(type.rows) + whole;
  }
  if (type.vector()) return describe(type.scope) + whole;
  const std::string maybe = type.optional ? " or undefined" : "";
  if (numeric(type)) {
    const std::string unit = to_text(type.unit);
    return (unit.empty() ? type.prob ? "a probability" : "a plain number" : unit) + maybe;
  }
  switch (type.base) {
    case Base::Bool:
      return "true or false" + maybe;
    case Base::String:
      return "a text";
    case Base::Beta:
      return "a beta" + maybe;
    case Base::Prompt:
      return "a prompt";
    case Base::Category:
      return "a category";
    case Base::Actions:
      return "actions";
    default:
      return to_text(type);
  }
}

std::string ones(const Unit& unit) {
  std::string text;
  for (const int side : {1, -1}) {
    for (int i = 0; i < base_unit_count; ++i) {
      const std::string_view plural = lang::name(static_cast<BaseUnit>(i));
      const int times = side * unit.exponents[static_cast<std::size_t>(i)];
      for (int k = 0; k < times; ++k) {
        text += (side > 0 ? " * 1 " : " / 1 ") + std::string(plural.substr(0, plural.size() - 1));
      }
    }
  }
  return text;
}

}  // namespace allot::lang::checker
