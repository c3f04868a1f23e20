// The typed program: what a checked policy means, ready for the evaluator and the machine-code compiler alike.
//
// A handler is a pure function. Everything it may look at stands in a Frame (compiler/executable.h) that the engine
// fills before the call: `reads` (single facts), `columns` (facts over rollouts or groups), parameters and state. So a
// recorded frame re-evaluates to the same verdict for ever, and a program lists exactly which statistics must be kept.
//
// Functions have been put in place of their calls, names are indices, units are gone, `let` stays call-by-need.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/result.h"
#include "lang/cell.h"
#include "lang/diagnostics.h"
#include "lang/facts.h"
#include "lang/source.h"
#include "lang/tree.h"
#include "lang/types.h"

namespace allot::lang {

using NodeId = std::int32_t;  // index into Handler::nodes

enum class Op {
  Constant,     // cell
  Parameter,    // index into Program::parameters
  Read,         // index into Handler::reads
  Column,       // index into Handler::columns; a vector
  Element,      // index into Handler::columns, at the position of `loop`
  Position,     // the position of `loop` itself, an int
  State,        // index into Program::states; args[0]: the key of state per prompt or category, absent for group and run
  Let,          // index into Handler::lets; evaluated at most once per evaluation of the scope that owns it
  Scope,        // args[0] evaluated with the lets of `owned` fresh: arguments of a function put in place
  Not, Negate,
  Add, Subtract, Multiply, Divide, Modulo,   // Int or Real by type; Divide is always Real; overflow, /0, non-finite: fault
  Less, LessEqual, Greater, GreaterEqual, Equal, NotEqual,   // operands of one base: Int, Real, Bool, Prompt
  And, Or,      // short-circuit, left to right
  If,           // condition, then, else
  Coalesce,     // args[0] if defined, else args[1]
  IsUndefined,  // negate with Not
  Assume,       // args[0], which the checker has proved to be defined
  ToReal,       // Int to Real
  Call,         // index into builtins(); strict in all arguments, left to right
  Reduce,       // over `loop`: args[0] body, args[1] where (optional); index is a Reduction
  Allot,        // over `loop`: args budget, LO, HI, utility (or weight); index into Handler::allotments; counts, a vector
  Map,          // over `loop`: args[0] body, args[1] where (optional); a vector
  ListOf,       // a vector of its args, or a matrix of them row by row
  At,           // args[0] a vector, args[1] its position, or row and args[2] column of a matrix: one element; outside: a fault
  Align         // args[0], which must be as long as args[1] (and as wide): else a Domain fault
};

enum class Reduction { Sum, Count, Mean, Min, Max, Any, All };
// Sum of none is 0, Count 0, Any false, All true; Mean, Min, Max of none are undefined. Undefined elements are left out.

struct Loop {
  Scope scope = Scope::Rollouts;
  NodeId source = -1;  // a vector-valued node to walk instead of a scope; Element with index -1 is its element
};

enum class Solver {
  Greedy,       // the utility is concave on LO..HI
  Exact,        // it may be anything: all counts are tried
  Proportional  // the last operand is a weight that does not look at the count
};

// How an allotment is solved (runtime/allocation). Its last operand is maximised; `minimizing F` has become −F.
struct Allotment {
  Solver solver = Solver::Greedy;
  std::int32_t counts = -1;  // the loop whose Position is the count n; nothing walks it but the solver
  std::int64_t span = 0;     // Exact: the most that HI - LO can be
  std::string why;           // for people: how the checker came to the solver
  Span place;
};

struct Node {
  Op op = Op::Constant;
  Type type;
  Span span;
  std::int32_t index = -1;
  std::int32_t loop = -1;   // index into Handler::loops
  Cell cell;
  std::vector<NodeId> args;
  std::vector<std::int32_t> owned;  // Scope: indices of its lets
};

// ---- what a handler reads

struct ReadArgument {
  enum class Kind { Word, Integer, Parameter, CurrentTurn };
  Kind kind = Kind::Integer;
  std::string word;
  std::int64_t integer = 0;   // value, or index of the parameter
  friend bool operator==(const ReadArgument&, const ReadArgument&) = default;
};

struct ReadKey {
  Fact fact = Fact::Turn;
  std::vector<ReadArgument> arguments;
  Scope scope = Scope::Single;    // Single: one cell of the handler's subject; else a column over this scope
  Type type;
  std::string text;               // as written by people: "g.hits", "mean_pairwise(…, prefixes(g.actions, at, padded))"
  Span span;
};

// ---- verdicts

enum class RolloutsField { Default, Continue, Stop, StopWhere, SampleMore, CompleteTo, Branch };
enum class GroupField { Default, Train, Drop, Defer };
enum class SlotField { Default, Refill, Leave };
enum class PromptField {
  Default,
  Evict,        // until the epoch `until`; at `epoch`, the prompts of `mask`
  EvictForGood,
  Readmit       // the group's prompt; at `epoch`, the prompts of `readmitted`
};
enum class Normalize { Default, Group, Subset };
// The answer of `select`; None where the rule says nothing of it (the default: as many as there are slots).
enum class Take { None, First, Best, Weighted, Where };

// The fixed part of a rule's verdict or answer; operands are evaluated only when the rule answers, in the order in
// which they stand here (`keys` of a handler before all rules). Each is a node of the handler, -1 where it is not said.
// Outcome (compiler/executable.h) has a place of the same name for each.
struct VerdictTemplate {
  RolloutsField rollouts = RolloutsField::Default;
  // Int. N of `sample N more`, M of `complete to M`: one number, at `wave of batch` also a vector over Groups (0 ends
  // that group). N of `start N each`: one number or a vector over Prompts. K of `branch K`; at `expand` a vector over
  // Anchors. N of `take N` and of `replay up to N`.
  NodeId amount = -1;
  NodeId up_to = -1;         // Int: M of `start N each, up to M`, one number or a vector over Prompts
  // vec<bool>: `stop where` over Rollouts; `take where` over Pool; `evict where` (at `epoch`) over Pool.
  NodeId mask = -1;
  GroupField group = GroupField::Default;
  NodeId subset = -1;        // vec<int> over samples, or a mask vec<bool> over Rollouts
  NodeId age_limit = -1;     // Int, iterations: N of `defer at most N iterations`, A of `replay …, max_age A`
  Normalize normalize = Normalize::Default;
  SlotField slot = SlotField::Default;
  PromptField prompt = PromptField::Default;
  NodeId until = -1;         // Int, epochs: E of `evict until E`; at `epoch` a vector over Pool
  bool readmits = false;     // `readmit where` at `epoch`, which may stand beside `evict where`
  NodeId readmitted = -1;    // vec<bool> over Known: `readmit where`, at `epoch` only
  Take take = Take::None;
  // vec<real?>: SCORE of `take N by SCORE` (the highest first) or W of `take N by weight W` (negative counts as 0) over
  // Pool; KEY of `replay … by KEY` over Stored, the lowest first. Undefined ones come last, or weigh nothing.
  NodeId scores = -1;
  NodeId reward = -1;        // Real: `set reward = X`
  NodeId loss = -1;          // Real: `set loss = X`
  NodeId slope = -1;         // Real: of the loss in `t.logprob`; the checker makes it
  // vec<real> (at `shape of group` vec<real?>) over Rollouts of a group or Trained of a micro-batch: `set advantages`,
  // `set weights`; an undefined one leaves what was there.
  NodeId advantages = -1;
  NodeId weights = -1;
  NodeId baseline = -1;      // Real or such a vector: `set baseline`
};

// Every operand of a verdict, in the order in which they are evaluated.
inline constexpr std::array verdict_operands{
    &VerdictTemplate::amount,     &VerdictTemplate::up_to,      &VerdictTemplate::mask,
    &VerdictTemplate::subset,     &VerdictTemplate::age_limit,  &VerdictTemplate::until,
    &VerdictTemplate::readmitted, &VerdictTemplate::scores,     &VerdictTemplate::reward,
    &VerdictTemplate::loss,       &VerdictTemplate::slope,
    &VerdictTemplate::advantages, &VerdictTemplate::weights,    &VerdictTemplate::baseline};

struct MessagePart {
  std::string text;
  NodeId hole = -1;          // index of its value among Outcome::holes is its order among the holes of the rule
};

// A rule of a member, and the whole handler in which it stands.
struct MemberRule {
  Span rule;
  Span handler;
};

struct Rule {
  NodeId condition = -1;     // -1: otherwise, or a bare verdict
  VerdictTemplate verdict;
  std::vector<MessagePart> because;
  Span span;
  int line = 0;
  // In a composition a rule may stand for several, one of each member that says something, in their order. Else empty.
  std::vector<Span> origins;
  // … and all that hold where it answers, those that say nothing too. Else empty.
  std::vector<MemberRule> members;
};

enum class EffectKind { Remember, Report, Warn, ForEach };

// Effects run in order after the rules. In a group's handler a state read sees the value from before the handler; in
// a barrier's `for each` it sees what was written before it in the loop.
struct Effect {
  EffectKind kind = EffectKind::Report;
  std::int32_t index = -1;   // Remember: state; Report: into Program::reports; Warn: into Program::warnings
  NodeId key = -1;           // Remember: key of state per prompt or category
  NodeId value = -1;         // Remember, Report: value (a report may be undefined and is then not written); Warn: condition
  std::vector<MessagePart> because;  // Warn
  std::int32_t loop = -1;    // ForEach
  std::vector<Effect> body;
  std::vector<std::int32_t> owned;   // ForEach: lets that are fresh for each element
  Span span;
};

struct Let {
  std::string name;
  NodeId value = -1;
};

struct Handler {
  Point point = Point::Turn;
  Subject subject = Subject::Group;
  bool every = false;                   // `every turn`, `every N tokens`
  bool ahead_runs = false;              // `ahead: run` of `turn N of group`: nobody is held
  std::optional<ReadArgument> number;   // N of `turn N`, `wave N`, `every N tokens`; Integer or Parameter
  // Of a composition: each equals N too, else this handler is never asked. It comes before one with fewer of them.
  std::vector<ReadArgument> numbers_too;
  // `by KEYS` of `resume`: a List of Reals, none of them undefined, of which the group with the lowest comes first (the
  // first key decides, then the second, then the older group). Evaluated before the rules.
  NodeId keys = -1;
  std::string text;                     // "turn at of group g"
  Span span;
  std::vector<ReadKey> reads;
  std::vector<ReadKey> columns;
  std::vector<Loop> loops;
  std::vector<Allotment> allotments;
  std::vector<Let> lets;                // those that no Scope and no ForEach owns are fresh at each call
  std::vector<Node> nodes;
  std::vector<Rule> rules;
  std::vector<Effect> effects;
  int hole_count = 0;                   // the most holes of one rule
};

// ---- declarations

struct Parameter {
  std::string name;
  Type type;
  Cell value;                // the default
  std::optional<double> low, high;
  std::string doc;
  Span span;
};

// State per prompt and per category has a key: Base::Prompt or Base::Category.
enum class StateScope { Group, Prompt, Category, Run };

struct State {
  std::string name;
  Type type;
  StateScope scope = StateScope::Prompt;
  std::vector<Cell> initial;     // Type::cells() of them, a matrix row by row
  std::optional<double> low, high;   // `in LOW..HIGH` of its type: what is remembered lies there
  std::optional<double> decay;   // multiplies the distance from `initial` at each `update` barrier, 0..1
  bool input = false;            // a fact that the host supplies: no handler writes it, nothing decays or migrates it
  Span span;
  bool keyed() const { return scope == StateScope::Prompt || scope == StateScope::Category; }
};

struct Budget {
  BaseUnit unit = BaseUnit::Tokens;
  ReadArgument amount;           // Integer or Parameter
  bool per_run = true;           // else per iteration
  bool carry_over = false;
  Span span;
};

enum class RefillFallback { TrainPartial, SkipUpdate, Abort };
struct Refill {
  ReadArgument rounds;
  RefillFallback then = RefillFallback::TrainPartial;
  Span span;
};

// `migrate belief from beta = old.mean`: what a swap makes of a cell of the version before, whose type was `from`.
struct Program;
struct Migration {
  std::int32_t state = -1;        // index into Program::states
  Type from;
  // One handler of point Eval with one Report: the new cell. Its only state (Op::State, without a key) is the old one.
  std::shared_ptr<const Program> value;
  Span span;
};

class Library;

struct Program {
  std::string name;
  std::string doc;
  std::string hash;              // SHA-256 of the source text, hexadecimal; filled by whoever loads the file
  std::vector<Parameter> parameters;
  std::vector<State> states;
  std::vector<Budget> budgets;
  std::optional<Refill> refill;
  std::optional<Handler> hit;    // point Eval over one rollout: one Report, a bool; reads are facts of the rollout
  double flat_within = 0;
  std::vector<Handler> handlers;
  std::vector<std::string> reports;    // names, in order of first appearance
  std::vector<std::string> warnings;   // "warn:12" by line
  std::vector<Migration> migrations;
  std::shared_ptr<const Source> source;
  std::shared_ptr<const tree::File> tree;    // tests are run from it (runtime/trial)
  std::shared_ptr<const Library> library;    // where the files came from that it names; may be null
};

// Text to program. Diagnostics are filled in any case; the program is there where none of them is an error. A policy
// that names other files is refused.
std::optional<Program> check(std::shared_ptr<const Source> source, Diagnostics& diagnostics);

// The same with the files that the policy names. Then `source` becomes that of all of them, of which the diagnostics
// speak.
std::optional<Program> check(std::shared_ptr<const Source>& source, Diagnostics& diagnostics,
                             std::shared_ptr<const Library> library);

// What a hash of the policy must cover: the text of its file, and where it uses others the names and texts of all.
std::string hashed_text(const Source& source);

// One expression without facts (`allot eval`), as a program with one handler of point Eval: one Report, or for a vector
// one rule whose `amount` it is.
std::optional<Program> check_expression(std::shared_ptr<const Source> source, Diagnostics& diagnostics);

// Values for all parameters, from defaults and `--set name=value`. An unknown name, a bad value or one out of range is
// an error that names the near match or the range.
Result<std::vector<Cell>> bind(const Program& program, const std::map<std::string, std::string>& overrides);

// A read argument once parameters are known; CurrentTurn gives -1.
std::int64_t value(const ReadArgument& argument, const std::vector<Cell>& parameters);

// "0.104", "true", "undefined", "beta(2, 3)": how a value is shown in a message, with the shortest digits that read
// back to the same number. Prompts are rendered by the engine.
std::string show(const Cell& cell, const Type& type);
// The same of a vector or matrix: "[0.5, undefined]", "[[1, 0], [0, 1]]".
std::string show(std::span<const Cell> cells, const Type& type);

}  // namespace allot::lang
