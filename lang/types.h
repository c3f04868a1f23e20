// Types and units. Units are integer exponents over the base units; they are checked and then erased.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace allot::lang {

enum class BaseUnit { Rollouts, Turns, Tokens, Calls, Groups, Prompts, Iterations, Epochs, Seconds };
inline constexpr int base_unit_count = 9;
std::string_view name(BaseUnit unit);

struct Unit {
  std::array<std::int8_t, base_unit_count> exponents{};
  bool plain() const { return exponents == std::array<std::int8_t, base_unit_count>{}; }
  friend bool operator==(const Unit&, const Unit&) = default;
};
std::string to_text(const Unit& unit);  // "tokens", "tokens / rollout", "" for a plain number

enum class Base {
  Bool,
  Int,     // 64 bits, overflow is a fault; counts with a unit are integers
  Real,    // double, always finite
  String,  // exists in messages and comparisons of constants only
  Beta,    // a Beta distribution's two parameters
  Prompt,    // an opaque key
  Category,  // an opaque key: the category of a prompt; prompts without one share one
  // Known to the checker alone; they never reach a cell.
  Actions, Group, Rollout, Batch, Run, Word
};

// What a vector runs over. Vectors of different scopes do not mix.
enum class Scope {
  Single,    // not a vector
  Rollouts,  // rollouts of the group, by sample
  Groups,    // open groups of the batch, in slot order
  Ended,     // every group of the batch that was started, dropped ones too, in order of slot and round
  Prompts,   // prompts of the batch, in slot order
  List,      // a list the policy made itself
  Pool,      // prompts that may be drawn now (`p.prompts`): neither evicted nor with a deferred group; in pool order
  Known,     // every prompt of the pool (`p.known`), evicted, deferred and never drawn ones too; in pool order
  Turns,     // turns of the handler's own rollout, from its first
  AllTurns,  // turns of all rollouts of the group: by sample, then from its first
  Trained,   // rollouts of a micro-batch (`b.rollouts`), in its order
  Stored,    // groups that the replay buffer holds (`b.stored`), the oldest first
  Anchors,   // turn prefixes at which finished rollouts of the batch may branch (`b.anchors`): by slot, sample, turn
  // Rollouts of all of Groups, Ended and Stored, group by group and then by sample. Nobody walks one of these as a
  // whole: `for r in g.rollouts` walks the part that is of `g`.
  GroupRollouts, EndedRollouts, StoredRollouts
};
inline constexpr int scope_count = 16;

// One value, a vector, or a matrix. A matrix is a vector of its elements, row by row, that knows what its columns run
// over: `g.gram` has rows and columns over the rollouts, a literal `[[1, 2], [3, 4]]` over lists of two.
struct Type {
  Base base = Base::Real;
  Unit unit;
  bool optional = false;  // may be undefined; of a vector: its elements may
  bool prob = false;      // a real in 0..1
  Scope scope = Scope::Single;   // what a vector, or the rows of a matrix, run over
  Scope across = Scope::Single;  // what the columns of a matrix run over
  std::int16_t rows = 0;         // of a List: how many where the text tells, else 0
  std::int16_t columns = 0;
  bool missing = false;   // a vector or matrix that may be undefined as a whole: `vec<real>?`
  bool vector() const { return scope != Scope::Single; }   // a matrix too
  bool matrix() const { return across != Scope::Single; }
  // Cells of a value whose size the text tells: 1 for one value, 0 for a vector of any length.
  std::int64_t cells() const { return !vector() ? 1 : matrix() ? std::int64_t{rows} * columns : rows; }
  friend bool operator==(const Type&, const Type&) = default;
};
std::string to_text(const Type& type);  // as an author would write it: "real?", "turns", "vec<real?>", "mat<real, 3, 3>"

}  // namespace allot::lang
