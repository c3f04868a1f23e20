// The functions a policy can call: name, signature, units and documentation, one row each. Implementations stand in
// compiler/builtins/ under the same name; a test asserts that every row has one.
//
// Statistics of actions are calls in the text too, but they are facts: see lang/facts.h. So are the reductions sum,
// count, mean, any, all, and min and max of one vector: they become Op::Reduce; `where(m, a, b)` becomes Op::Map; min
// and max of three and more numbers become nested calls.
#pragma once

#include <span>
#include <string_view>

#include "lang/types.h"

namespace allot::lang {

enum class ArgumentKind {
  Int, Real,       // Real takes an int too (converted)
  Number,          // Int or Real; all Number arguments of a call take the same base and unit
  Bool, Beta,
  IntVector, RealVector,   // elements may be undefined: they are left out, or keep their place where the doc says so
  BoolVector, AnyVector,   // AnyVector: a matrix too
  Matrix,                  // of reals
  Reals                    // a vector or a matrix of reals, whose elements are all defined
};

struct Argument {
  std::string_view name;   // may be given as a label
  ArgumentKind kind;
  bool optional = false;   // may be left out, then `fallback` is passed
  double fallback = 0;
  // Int and Real: the unit it takes, a BaseUnit, which a bare number has too; -1: a plain number only (any unit where the
  // function keeps units); -2: a plain number or rollouts. Vectors and Number: not looked at.
  int unit = -1;
  bool defined = false;    // vectors: no element may be undefined
};

enum class ResultKind {
  Int, Real, Prob, Bool, Beta,
  Number,        // base and unit of the Number arguments
  Element,       // base and unit of the elements of the first vector argument
  IntVector, RealVector,   // over Scope::List
  // Of the shape of vector arguments. Undefined elements of the first keep their place in `…Along`.
  IntsAlong, RealsAlong,   // a vector over what the first, or the rows of the first, run over
  Same,                    // the shape of the last
  Transposed,              // of the first
  Square,                  // a matrix over the rows of the first, both ways
  Outer,                   // a matrix, rows over the first and columns over the last
  Product                  // of the first, a matrix, with the last, a vector or a matrix
};

// How a function bends in one of its arguments while the others stay: what `allot` may take for granted.
enum class Bend { None, Concave, Convex };
struct Curve {
  int argument = 0;
  Bend bend = Bend::None;
  bool rises = false;      // never falls; else it never rises
  double from = 0;         // where the argument is at least so large
};

struct Builtin {
  std::string_view name;
  std::span<const Argument> arguments;
  ResultKind result;
  bool result_optional;    // may be undefined (a mean of nothing); of a vector: its elements may
  std::string_view doc;    // what it gives, range, what is undefined, source of the formula
  int keeps_unit = 0;      // the unit of the first argument to this power; 0: a plain number
  Curve curve = {};
  bool result_missing = false;   // a vector or matrix that may be undefined as a whole
  bool fills = false;      // undefined elements of the arguments do not make undefined elements of the result
  bool apart = false;      // the vector arguments need not run over the same
  bool hidden = false;     // the checker alone makes calls of it: nobody can write its name
};
// A vector or matrix is given.
constexpr bool gives_vector(ResultKind kind) { return kind >= ResultKind::IntVector; }

std::span<const Builtin> builtins();
int find_builtin(std::string_view name);   // index into builtins(), or -1

// The name of the hidden one that gives the places first, first + 1, … of a group's rollouts among those of all groups.
inline constexpr std::string_view places_of_group = "places of a group";

}  // namespace allot::lang
