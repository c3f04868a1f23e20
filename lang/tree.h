// The tree: what the author wrote, with positions, before names and types mean anything.
//
// Nodes live in one arena and refer to each other by index, so a tree is copied, moved and freed without recursion.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lang/source.h"

namespace allot::lang::tree {

using ExprId = std::int32_t;
inline constexpr ExprId none = -1;

struct Name {
  std::string text;
  Span span;
};

enum class ExprKind {
  Integer,      // text: digits without '_'; unit: name of the unit that follows, or empty
  Real,         // text
  Percent,      // text: the number before '%'
  Bool,         // text: "true" | "false"
  String,       // a plain string or a message: parts alternate text and holes
  Undefined,    // the word `undefined` as a value (tests and `??` chains)
  Name,         // text
  Field,        // args[0] . text
  Index,        // args[0] [ args[1] ], or with args[2] of a matrix
  Call,         // text ( args ), labels[i] names args[i] where given, else empty
  Unary,        // op: "-" | "not"
  Binary,       // op: + - * / mod and or ??
  Compare,      // ops[i] stands between args[i] and args[i + 1]: < <= > >= == !=   (0 < m < 1 has two)
  If,           // args: condition, then, else
  IsUndefined,  // args[0] `is undefined`; negated: `is not undefined`
  Comprehension,  // text: loop variable; args: body, source, [where]    f(body for x in source where cond) is a Call
                  // with this as its only argument; [body for x in source] a List with it
  List,         // args
  Record,       // text: "group", …; labels[i]: args[i]       group { actions: …, turn: 10 }
  Allot,        // allot BUDGET over x in XS, n in LO..HI maximizing F: labels x, n; text maximizing | minimizing |
                // in proportion to; args budget, XS, LO, HI, F, [the draw of `ties: seeded "name"`]
};

struct StringPart {
  std::string text;     // used where hole is none; escapes already resolved
  ExprId hole = none;
};

struct Expr {
  ExprKind kind = ExprKind::Undefined;
  Span span;
  std::string text;
  std::string op;
  std::string unit;
  bool negated = false;
  std::vector<ExprId> args;
  std::vector<std::string> labels;
  std::vector<std::string> ops;
  std::vector<StringPart> parts;
};

// `vec<real, 3>`, `beta`, `tokens`, `real in 0..1`, `real?`
struct TypeName {
  Span span;
  std::string name;
  bool optional = false;
  std::vector<TypeName> arguments;
  std::vector<std::string> sizes;
  ExprId low = none;   // `in LOW..HIGH`
  ExprId high = none;
};

// ---- verdicts

enum class ActionKind {
  Continue, Stop, StopWhere, SampleMore, CompleteTo, Start, Branch,  // rollouts field and the answer of `size`
  Train, Drop, Defer,                                                // group field
  Refill, Leave,                                                     // slot field
  Evict, Readmit, Take, Set, Replay                                  // prompt field, answers of later points
};

struct Action {
  ActionKind kind = ActionKind::Continue;
  Span span;
  // N of sample, complete, start, branch, defer, take and replay; SUBSET of train; COND of `stop where` and `take
  // where`; EPOCH of `evict until`; X of `set TARGET = X`
  ExprId amount = none;
  ExprId second = none;    // `up to M` of start; SCORE or W of `take N by`; KEY of `replay up to N by`
  ExprId third = none;     // COND of `evict where` and `readmit where`; A of `replay …, max_age A`
  // `set TARGET = …`; "group" | "subset" of `normalize over`; "where" | "by" | "by weight" of take; "for good" of evict
  std::string target;
};

struct Verdict {
  Span span;
  std::vector<Action> actions;
  ExprId because = none;   // a String
};

// ---- statements of a handler

enum class StatementKind { Let, When, Otherwise, Bare, Remember, Report, Warn, ForEach };

struct Statement {
  StatementKind kind = StatementKind::Let;
  Span span;
  Name name;               // let, report; loop variable of for each
  ExprId condition = none; // when, warn
  ExprId value = none;     // let, remember, report; source of for each
  ExprId target = none;    // remember: a Name or an Index
  Verdict verdict;
  std::vector<Statement> body;  // for each; nested at most limits.depth
};

// ---- items of a file

struct Param {
  Name name;
  TypeName type;
  ExprId value = none;
  std::string doc;
};

struct StateDecl {
  Name name;
  TypeName type;
  std::string scope;       // "group" | "prompt" | "category" | "run"
  ExprId initial = none;
  ExprId decay = none;
};

struct BudgetDecl {
  Span span;
  ExprId amount = none;    // an expression with a unit: 400_000_000 tokens, or a parameter
  std::string period;      // "run" | "iteration"
  bool carry_over = false;
};

struct RefillDecl {
  Span span;
  ExprId rounds = none;
  std::string then;        // "train_partial" | "skip_update" | "abort"
};

struct FunctionDecl {
  Name name;
  std::vector<Param> params;   // without values
  TypeName result;
  ExprId body = none;
  bool imported = false;  // of another file: its body sees its arguments and other functions, nothing else
};

// `import team.gates as gates`
struct ImportDecl {
  Name file;   // "team.gates"
  Name alias;  // without `as` the last word of it
};

// `migrate belief from beta = old.mean`: what a swap makes of state that another version declared otherwise.
struct MigrateDecl {
  Name state;
  TypeName from;
  ExprId value = none;
};

struct InputDecl {
  Name name;
  TypeName type;
  std::string scope;
};

// `on turn at of group g { … }`, `on wave 1 of batch b`, `on every turn of rollout r`
struct Handler {
  Span span;
  Span point_span;         // `turn at of group g`
  std::string point;       // "turn", "wave", "finish", …
  bool every = false;
  bool ahead_runs = false; // `on turn N of group g, ahead: run`: rollouts that are ahead are not held
  ExprId number = none;    // N of `turn N`, `wave N`, `every N tokens`
  std::string subject;     // "group", "batch", "rollout", "pool", "micro_batch", "token"
  Name variable;
  std::vector<ExprId> keys;  // `by KEYS` of resume
  std::vector<Statement> statements;
};

// ---- tests

struct Setting {           // `with at = 15`
  Name name;
  ExprId value = none;
};

struct Given {             // `given g = group { … }`
  Name name;
  ExprId value = none;
};

// `expect turn(g) is stop, drop` · `expect divergence < 0.2` · `expect turn(g) because "…"`
struct Expect {
  Span span;
  std::string point;       // "turn", "wave", …; empty for a plain condition
  Name subject;
  Verdict verdict;         // what is expected; `because` where given
  ExprId condition = none;
};

struct TestDecl {
  Span span;
  std::string title;
  std::vector<Setting> settings;
  std::vector<Given> givens;
  std::vector<Expect> expects;
};

// `sara(size: 16 rollouts)` in `policy team = sara(size: 16 rollouts) then pods`
struct Member {
  Name name;
  std::vector<Setting> settings;
};

// ---- scenarios: tests over time

struct HostSetting {       // `slots 2` · `pool a, b` · `seed 7` · `size 4` · `turn_limit 20` · `budget 16 rollouts`
  Name name;
  std::vector<ExprId> values;
};

struct KeyedGiven {        // `given belief["a"] = beta(2, 1)`
  Name name;
  ExprId key = none;
  ExprId value = none;
};

struct Score {             // 1 · ? · !
  enum class Kind { Reward, Unscored, Failed };
  Kind kind = Kind::Reward;
  ExprId reward = none;
};

struct ScenarioGroup {     // `group a: actions [["look"]] * 2; rewards 1, ?`
  Span span;
  Name name;               // its prompt
  std::vector<Score> scores;  // in the order of arrival
  ExprId actions = none;   // one list a rollout
};

// `expect wave 2 (a) is drop, refill` · `expect a is dropped because "…"` · `expect belief["a"] == beta(2, 1)`
struct ScenarioExpect {
  Span span;
  std::string point;       // of a decision; empty: none is meant
  ExprId number = none;
  Name group;
  Verdict verdict;
  std::string fate;        // "trained", "dropped", …
  ExprId because = none;
  ExprId condition = none;
};

struct Iteration {
  Span span;
  std::vector<ScenarioGroup> groups;
  std::vector<ScenarioExpect> expects;
};

struct ScenarioDecl {
  Span span;
  std::string title;
  std::vector<Setting> settings;
  std::vector<KeyedGiven> givens;
  std::vector<HostSetting> host;
  std::vector<Iteration> iterations;
};

struct File {
  std::string doc;         // `##` lines before `policy`
  Name policy;
  std::vector<Member> members;  // of a composition, in order; empty for a policy that stands by itself
  std::vector<ImportDecl> imports;
  std::vector<Expr> exprs;
  std::vector<Param> params;
  std::vector<StateDecl> states;
  std::vector<BudgetDecl> budgets;
  std::vector<RefillDecl> refills;
  std::vector<FunctionDecl> functions;
  std::vector<InputDecl> inputs;
  std::vector<MigrateDecl> migrations;
  std::vector<Handler> handlers;
  std::vector<TestDecl> tests;
  std::vector<ScenarioDecl> scenarios;
  ExprId hit = none;       // hit when COND
  Span hit_span;
  ExprId flat_within = none;
  std::vector<std::string> unread;  // names that broken items would have declared: no follow-on errors about them

  const Expr& operator[](ExprId id) const { return exprs[static_cast<std::size_t>(id)]; }
};

}  // namespace allot::lang::tree
