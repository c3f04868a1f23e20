#include "lang/check/records.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/stack.h"
#include "lang/check/units.h"
#include "lang/facts.h"

namespace allot::lang::checker {
namespace {

// A record of a test: the facts of its subject, and lists of facts with an entry for each of what it holds.
struct RecordRow {
  std::string_view word;
  std::vector<Subject> subjects;
  std::string_view extra;
};

const RecordRow* find_record(std::string_view word) {
  static const std::vector<RecordRow> rows{
      {"group", {Subject::Group}, "actions"},
      {"batch", {Subject::Batch, Subject::Group, Subject::Anchor, Subject::Prompt, Subject::Run}, "prompts"},
      {"pool", {Subject::Pool, Subject::Prompt, Subject::Run}, "prompts"},
      {"rollout", {Subject::Rollout}, ""},
      {"micro_batch", {Subject::MicroBatch, Subject::Rollout}, ""},
      {"token", {Subject::Token, Subject::Run}, ""},
  };
  for (const RecordRow& row : rows) {
    if (row.word == word) return &row;
  }
  return nullptr;
}

std::vector<std::string> fields_of(const RecordRow& record) {
  std::vector<std::string> names;
  if (!record.extra.empty()) names.emplace_back(record.extra);
  for (const Subject subject : record.subjects) {
    for (const FactRow& row : fact_rows()) {
      if (row.subject == subject && !row.name.empty()) names.emplace_back(row.name);
    }
  }
  return names;
}

// `draw_tie: [0.2, 0.9]` says what `draw("tie")` gives.
std::vector<std::string> draws_of(const Program& program) {
  std::vector<std::string> names;
  for (const Handler& handler : program.handlers) {
    for (const auto* keys : {&handler.reads, &handler.columns}) {
      for (const ReadKey& key : *keys) {
        if (key.fact == Fact::Draw && !key.arguments.empty()) names.push_back("draw_" + key.arguments.front().word);
      }
    }
  }
  return names;
}

// What an expression holds as runtime/trial reads it: `Count` is a whole number without a sign, which repeats a list.
enum class Held { Nothing, Other, Number, Count, List };

bool is_number(Held value) { return value == Held::Number || value == Held::Count; }

bool repeats(Held left, Held right) {
  return (left == Held::List && right == Held::Count) || (left == Held::Count && right == Held::List);
}

// `wrong` becomes the first part that is no value.
Held held(const tree::File& file, tree::ExprId id, std::optional<tree::ExprId>& wrong) {
  using Kind = tree::ExprKind;
  const tree::Expr& e = file[id];
  const auto part = [&](std::size_t i) { return held(file, e.args[i], wrong); };
  const auto has_hole = [](const tree::StringPart& each) { return each.hole != tree::none; };
  Held found = Held::Nothing;
  switch (stack_ends() ? Kind::Name : e.kind) {
    case Kind::Integer: found = Held::Count; break;
    case Kind::Real:
    case Kind::Percent: found = Held::Number; break;
    case Kind::Bool:
    case Kind::Undefined: found = Held::Other; break;
    case Kind::String:
      if (std::none_of(e.parts.begin(), e.parts.end(), has_hole)) found = Held::Other;
      break;
    case Kind::List:
      found = Held::List;
      for (std::size_t i = 0; i < e.args.size() && found == Held::List; ++i) {
        if (part(i) == Held::Nothing) found = Held::Nothing;
      }
      break;
    case Kind::Call:
      if (e.text == "beta" && e.args.size() == 2 && is_number(part(0)) && is_number(part(1))) found = Held::Other;
      break;
    case Kind::Unary:
      if (e.op == "-" && is_number(part(0))) found = Held::Number;
      break;
    case Kind::Binary:
      if (e.op == "*") {
        const Held left = part(0);  // in this order, so that the first part is told that is none
        if (repeats(left, part(1))) found = Held::List;
      }
      break;
    default: break;
  }
  if (found == Held::Nothing && !wrong) wrong = id;
  return found;
}

// The first unit that is written in a value of a record, however deep in lists, and is not that of the fact. How often
// a list is repeated may have any.
std::optional<tree::ExprId> wrong_unit(const Policy& policy, tree::ExprId id, const std::vector<Unit>& fitting) {
  const tree::Expr& e = policy.tree[id];
  const std::optional<BaseUnit> unit = e.unit.empty() ? std::nullopt : unit_named(e.unit);
  if (unit && std::find(fitting.begin(), fitting.end(), of(*unit)) == fitting.end()) return id;
  for (const tree::ExprId arg : e.args) {
    if (e.kind == tree::ExprKind::Binary && policy.tree[arg].kind == tree::ExprKind::Integer) continue;
    if (const auto wrong = wrong_unit(policy, arg, fitting)) return wrong;
  }
  return std::nullopt;
}

void check_units(Policy& policy, const tree::Expr& record, std::size_t field) {
  const std::string& name = record.labels[field];
  std::vector<Unit> fitting;
  if (name == "prompts") fitting.push_back(of(BaseUnit::Prompts));  // how many there are
  for (const Subject subject : find_record(record.text)->subjects) {
    if (const FactRow* const fact = find_fact(subject, name)) fitting.push_back(fact->type.unit);
  }
  const std::optional<tree::ExprId> wrong = wrong_unit(policy, record.args[field], fitting);
  if (!wrong) return;
  const std::string unit = fitting.empty() ? "" : to_text(fitting.front());
  policy.error("E0215", policy.tree[*wrong].span,
               quoted(name) + " of a " + record.text + " is " +
                   (unit.empty() ? "a plain number, not " : "counted in " + unit + ", not in ") +
                   std::string(lang::name(*unit_named(policy.tree[*wrong].unit))),
               "", "leave the unit out: a bare number has that of its fact");
}

}  // namespace

bool is_record(std::string_view word) { return find_record(word) != nullptr; }

bool check_written_out(Policy& policy, tree::ExprId id) {
  std::optional<tree::ExprId> wrong;
  if (held(policy.tree, id, wrong) != Held::Nothing) return true;
  policy.error("E0404", policy.tree[wrong.value_or(id)].span, "this is not written out", "",
               "write what comes of it: nothing is computed in what a test gives, but that a list can be repeated");
  return false;
}

void check_record(Policy& policy, const tree::Expr& record) {
  std::vector<std::string> known = fields_of(*find_record(record.text));
  if (record.text != "group") {
    for (std::string& draw : draws_of(policy.program)) known.push_back(std::move(draw));
  }
  std::set<std::string> seen;
  for (std::size_t i = 0; i < record.args.size(); ++i) {
    const std::string& name = record.labels[i];
    const Span span = policy.tree[record.args[i]].span;
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      policy.error("E0105", span, "a " + record.text + " of a test has no " + quoted(name), "", near_help(name, known));
    } else if (!seen.insert(name).second) {
      policy.error("E0305", span, quoted(name) + " is given twice", "", "keep one of the two");
    } else if (check_written_out(policy, record.args[i])) {
      check_units(policy, record, i);
    }
  }
}

}  // namespace allot::lang::checker
