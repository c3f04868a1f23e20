// Arithmetic of units and small questions about types.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lang/types.h"

namespace allot::lang::checker {

Unit of(BaseUnit unit);
// "rollouts" or "rollout"; empty where there is no such unit.
std::optional<BaseUnit> unit_named(std::string_view name);
Unit product(const Unit& a, const Unit& b, int power_of_b = 1);  // a · b^power

Type plain(Base base);
Type count(BaseUnit unit);
Type defined(Type type);  // without `?`
Type optional(Type type);
Type element_of(Type type);  // of a vector or matrix
Type vector_of(Type type, Scope scope);
Type shaped(Type element, const Type& like);      // elements of one type in the shape of another
Type matrix_of(Type element, int rows, int columns);  // written out
// They run over the same things, and have as many elements as far as the text tells.
bool same_shape(const Type& a, const Type& b);
// Where `wanted` leaves the shape open (`vec<real>`, `mat<real>`), that of `given`.
void adopt_shape(Type& wanted, const Type& given);
bool numeric(const Type& type);  // Int or Real, one value or a vector of them

// For messages: "tokens", "a plain number", "true or false", "a vector over rollouts".
std::string describe(const Type& type);
std::string describe(Scope scope);
// " * 1 token / 1 rollout", which gives a plain number that unit.
std::string ones(const Unit& unit);

}  // namespace allot::lang::checker
