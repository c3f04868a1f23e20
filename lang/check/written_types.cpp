// Types as an author writes them: `real?`, `rollouts`, `vec<real, 3>`, `real in 0..4`.
#include <array>
#include <charconv>
#include <limits>
#include <string_view>
#include <utility>

#include "lang/check/declarations.h"
#include "lang/check/expressions.h"
#include "lang/check/units.h"

namespace allot::lang::checker {
namespace {

// `vec<T>`, `vec<T, 3>`, `mat<real>`, `mat<real, 2, 3>`.
std::optional<Type> read_vector_type(Policy& policy, const tree::TypeName& name) {
  const bool matrix = name.name == "mat";
  const std::size_t all_sizes = matrix ? 2 : 1;
  if (name.arguments.size() != 1 || (!name.sizes.empty() && name.sizes.size() != all_sizes)) {
    policy.error("E0202", name.span,
                 matrix ? "a matrix is `mat<real>` or `mat<real, 3, 3>`" : "a vector is `vec<real>` or `vec<real, 3>`");
    return std::nullopt;
  }
  const std::optional<Type> element = read_type(policy, name.arguments[0]);
  if (!element) return std::nullopt;
  const bool fits = !element->vector() && (!matrix || (element->base == Base::Real && !element->optional));
  if (!fits) {
    policy.error("E0202", name.arguments[0].span,
                 matrix ? "the elements of a matrix are reals that are always there"
                        : "the elements of a vector are single values",
                 "not " + to_text(*element));
    return std::nullopt;
  }
  std::array<int, 2> sizes{};
  for (std::size_t i = 0; i < name.sizes.size(); ++i) {
    const std::string& digits = name.sizes[i];
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), sizes[i]);
    if (problem != std::errc() || sizes[i] < 1 || sizes[i] > std::numeric_limits<std::int16_t>::max()) {
      policy.error("E0216", name.span, "a size is a number from 1 to 32767", "not " + digits);
      return std::nullopt;
    }
  }
  Type type = vector_of(*element, Scope::List);
  type.rows = static_cast<std::int16_t>(sizes[0]);
  if (matrix) type = matrix_of(*element, sizes[0], sizes[1]);
  type.missing = name.optional;
  return type;
}

// What a type of other languages is called here; empty where nothing is.
std::string_view type_elsewhere(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> names[] = {
      {"float", "real"}, {"double", "real"}, {"number", "real"},  {"float64", "real"},     {"integer", "int"},
      {"long", "int"},   {"int64", "int"},   {"boolean", "bool"}, {"probability", "prob"}, {"list", "vec"},
      {"vector", "vec"}, {"array", "vec"},   {"matrix", "mat"}};
  for (const auto& [other, own] : names) {
    if (other == name) return own;
  }
  return {};
}

}  // namespace

std::optional<Type> read_type(Policy& policy, const tree::TypeName& name) {
  Type type;
  if (name.name == "vec" || name.name == "mat") return read_vector_type(policy, name);
  if (const std::optional<BaseUnit> unit = unit_named(name.name)) {
    type = count(*unit);
  } else if (name.name == "bool") {
    type = plain(Base::Bool);
  } else if (name.name == "int") {
    type = plain(Base::Int);
  } else if (name.name == "real" || name.name == "prob") {
    type = plain(Base::Real);
    type.prob = name.name == "prob";
  } else if (name.name == "beta") {
    type = plain(Base::Beta);
  } else if (name.name == "prompt") {
    type = plain(Base::Prompt);
  } else {
    std::vector<std::string> names{"bool", "int", "real", "prob", "beta", "vec", "mat", "prompt"};
    for (int i = 0; i < base_unit_count; ++i) names.emplace_back(lang::name(static_cast<BaseUnit>(i)));
    const std::string_view other = type_elsewhere(name.name);
    policy.error("E0202", name.span, "there is no type " + quoted(name.name) + " here", "",
                 other.empty() ? near_help(name.name, names) : "it is called `" + std::string(other) + "` here");
    return std::nullopt;
  }
  type.optional = name.optional;
  if (name.low == tree::none) return type;
  if (!numeric(type)) {
    policy.error("E0202", name.span, "only numbers have a range");
    return std::nullopt;
  }
  const std::optional<Range> range = read_range(policy, name, type);
  if (!range) return std::nullopt;
  type.prob = type.prob || (type.base == Base::Real && type.unit.plain() && range->low >= 0 && range->high <= 1);
  return type;
}

}  // namespace allot::lang::checker
