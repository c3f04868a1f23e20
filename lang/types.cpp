#include "lang/types.h"

namespace allot::lang {
namespace {

constexpr std::array<std::string_view, base_unit_count> unit_names{
    "rollouts", "turns", "tokens", "calls", "groups", "prompts", "iterations", "epochs", "seconds"};

// "tokens", "tokens^2": the factors of one side of the fraction; below the line people write the singular.
std::string factors(const Unit& unit, int sign) {
  std::string text;
  for (int i = 0; i < base_unit_count; ++i) {
    const int power = unit.exponents[static_cast<std::size_t>(i)] * sign;
    if (power <= 0) continue;
    if (!text.empty()) text += " * ";
    std::string_view name = unit_names[static_cast<std::size_t>(i)];
    if (sign < 0) name.remove_suffix(1);
    text += name;
    if (power > 1) text += "^" + std::to_string(power);
  }
  return text;
}

std::string scalar_text(const Type& type) {
  switch (type.base) {
    case Base::Bool:
      return "bool";
    case Base::Int:
      return type.unit.plain() ? "int" : to_text(type.unit);
    case Base::Real:
      if (type.prob) return "prob";
      return type.unit.plain() ? "real" : "real in " + to_text(type.unit);
    case Base::String:
      return "string";
    case Base::Beta:
      return "beta";
    case Base::Prompt:
      return "prompt";
    case Base::Category:
      return "category";
    case Base::Actions:
      return "actions";
    case Base::Group:
      return "group";
    case Base::Rollout:
      return "rollout";
    case Base::Batch:
      return "batch";
    case Base::Run:
      return "run";
    case Base::Word:
      return "word";
  }
  return "";
}

}  // namespace

std::string_view name(BaseUnit unit) {
  return unit_names[static_cast<std::size_t>(unit)];
}

std::string to_text(const Unit& unit) {
  const std::string above = factors(unit, 1);
  const std::string below = factors(unit, -1);
  if (below.empty()) return above;
  return (above.empty() ? "1" : above) + " / " + below;
}

std::string to_text(const Type& type) {
  std::string text = scalar_text(type) + (type.optional ? "?" : "");
  if (!type.vector()) return text;
  if (type.rows > 0 && type.scope == Scope::List) text += ", " + std::to_string(type.rows);
  if (type.columns > 0 && type.across == Scope::List) text += ", " + std::to_string(type.columns);
  return (type.matrix() ? "mat<" : "vec<") + text + ">" + (type.missing ? "?" : "");
}

}  // namespace allot::lang
