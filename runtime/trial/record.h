// `given g = group { … }` as a group the engine could have met.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/result.h"
#include "lang/program.h"
#include "runtime/engine/live_group.h"

namespace allot::trial {

// A literal of a test: a number, a string, a truth, `undefined`, a beta, or a list of these. `[x] * n` repeats.
struct Value {
  enum class Kind { Undefined, Bool, Int, Real, String, Beta, List };
  Kind kind = Kind::Undefined;
  std::int64_t integer = 0;
  double real = 0;
  double second = 0;
  std::string text;
  std::vector<Value> items;

  static Value of(Kind kind, std::int64_t integer, double real = 0);
  bool is_number() const { return kind == Kind::Int || kind == Kind::Real; }
  double number() const { return kind == Kind::Int ? static_cast<double>(integer) : real; }
  lang::Cell cell(lang::Base base) const;  // as a fact, parameter or state of that base
  // Of a list, or of lists in a list: its cells one after another; of anything else one.
  std::vector<lang::Cell> cells(lang::Base base) const;
};

// How many elements the lists of one test may still have, all together: a short text can ask for more than there is
// memory (`[["a"] * n] * n`).
struct Allowance {
  static constexpr std::size_t most = 1'000'000;
  std::size_t left = most;
};
Result<Value> literal(const lang::tree::File& tree, lang::tree::ExprId id, Allowance& allowance);

struct Record {
  std::string kind;                                 // "group", "batch", "pool", "rollout", "micro_batch"
  std::map<std::string, Value> fields;              // as written
  std::unique_ptr<engine::LiveGroup> group;         // of a group's record
  std::map<lang::Fact, Value> facts;                // given outright; they win over what the log says
  int turn = 0;                                     // `turn`, else what the log says
  bool is_group() const { return group != nullptr; }
};

Result<Record> read_record(const lang::Program& program, const std::vector<lang::Cell>& parameters,
                           const lang::tree::Given& given, Allowance& allowance);

}  // namespace allot::trial
