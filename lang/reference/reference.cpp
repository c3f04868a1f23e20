#include "lang/reference/reference.h"

#include <fmt/format.h>

#include "lang/builtins.h"
#include "lang/check/collections.h"
#include "lang/check/units.h"
#include "lang/codes.h"
#include "lang/reference/words.h"

namespace allot::lang::reference {
namespace {

std::string_view text(ArgumentKind kind) {
  switch (kind) {
    case ArgumentKind::Int: return "int";
    case ArgumentKind::Real: return "real";
    case ArgumentKind::Number: return "number";
    case ArgumentKind::Bool: return "bool";
    case ArgumentKind::Beta: return "beta";
    case ArgumentKind::IntVector: return "vec<int>";
    case ArgumentKind::RealVector: return "vec<real>";
    case ArgumentKind::BoolVector: return "vec<bool>";
    case ArgumentKind::Matrix: return "mat<real>";
    case ArgumentKind::Reals: return "vec<real> or mat<real>";
    default: return "vec";
  }
}

std::string_view text(const Builtin& builtin) {
  switch (builtin.result) {
    case ResultKind::Int: return "int";
    case ResultKind::Real: return "real";
    case ResultKind::Prob: return "prob";
    case ResultKind::Bool: return "bool";
    case ResultKind::Beta: return "beta";
    case ResultKind::Number: return "number";
    case ResultKind::Element: return "element";
    case ResultKind::IntVector:
    case ResultKind::IntsAlong: return "vec<int>";
    case ResultKind::Transposed:
    case ResultKind::Square:
    case ResultKind::Outer: return "mat<real>";
    case ResultKind::Product: return "vec<real> or mat<real>";
    case ResultKind::Same: {
      ArgumentKind last = ArgumentKind::RealVector;
      for (const Argument& argument : builtin.arguments) {
        if (argument.kind == ArgumentKind::Matrix || argument.kind == ArgumentKind::RealVector) last = argument.kind;
      }
      return last == ArgumentKind::Matrix ? "mat<real>" : "vec<real>";
    }
    default: return "vec<real>";
  }
}

// What stands for an argument that is left out.
std::string fallback(const Argument& argument) {
  if (!argument.optional) return {};
  if (argument.kind == ArgumentKind::Bool) return argument.fallback != 0 ? " = true" : " = false";
  return fmt::format(" = {}", argument.fallback);
}

std::string signature(const Builtin& builtin) {
  std::string list;
  for (const Argument& argument : builtin.arguments) {
    std::string_view kind = text(argument.kind);
    if (argument.unit >= 0) kind = lang::name(static_cast<BaseUnit>(argument.unit));
    const std::string separator = list.empty() ? "" : ", ";
    list += argument.name == "ties" ? separator + "ties: seeded \"NAME\" = by position"
                                    : fmt::format("{}{}: {}{}", separator, argument.name, kind, fallback(argument));
  }
  return fmt::format("{}({}) -> {}{}", builtin.name, list, text(builtin), builtin.result_optional || builtin.result_missing ? "?" : "");
}

struct Owner {
  Subject subject;
  std::string_view variable;
  std::string_view title;
};
constexpr Owner owners[] = {{Subject::Group, "g", "a group"},   {Subject::Rollout, "r", "a rollout"},
                            {Subject::Batch, "b", "a batch"},   {Subject::Run, "", "the run"},
                            {Subject::Pool, "p", "a pool"},     {Subject::Prompt, "q", "a prompt"},
                            {Subject::Anchor, "a", "an anchor"}, {Subject::MicroBatch, "m", "a micro-batch"},
                            {Subject::Token, "t", "a token"}};

std::string variable(Subject subject) {
  for (const Owner& owner : owners) {
    if (owner.subject == subject) return std::string(owner.variable);
  }
  return "";
}

std::string_view when(const checker::Collection& row) {
  return row.scope == Scope::Groups ? "not at `size`, where none is open yet" : row.where;
}

// What stands after a dot and is no fact.
void add_members(std::vector<Entry>& all) {
  for (const checker::Collection& row : checker::collections()) {
    constexpr std::string_view vector = "a vector over ";
    const std::string over = checker::describe(row.scope).substr(vector.size());
    all.push_back({Kind::Member, std::string(row.name), fmt::format("{}.{}", variable(row.owner), row.name),
                   fmt::format("What a comprehension or `for each` walks: {}{}{}.", over, row.where.empty() ? "" : "; ", when(row)),
                   row.owner});
  }
  for (const Subject owner : {Subject::Group, Subject::Rollout}) {
    all.push_back({Kind::Member, "actions", variable(owner) + ".actions",
                   fmt::format("The actions, as the argument of a statistic: `{}`.",
                               owner == Subject::Group ? "unique_ratio(prefixes(g.actions, 10, padded))" : "repetition(r.actions, 3)"),
                   owner});
  }
  for (const Subject owner : {Subject::Group, Subject::Batch}) {
    all.push_back({Kind::Member, "budget", variable(owner) + ".budget.left",
                   fmt::format("The budget that is declared: `left`, `spent` or `total` of it; where there are several, "
                               "`{}.budget.tokens.left`.",
                               variable(owner)),
                   owner});
  }
}

std::vector<Entry> collect() {
  std::vector<Entry> all;
  for (const Builtin& builtin : builtins()) {
    if (builtin.hidden) continue;
    all.push_back({Kind::Function, std::string(builtin.name), signature(builtin), std::string(builtin.doc), {}});
  }
  for (const FactRow& row : fact_rows()) {
    if (row.name.empty()) continue;
    const std::string of = variable(row.subject);
    std::string doc(row.doc);
    if (row.reward) doc += " Not known at `size` and `turn`.";
    if (row.measured) doc += " Measured: a policy that reads it is audit-only.";
    all.push_back({Kind::Fact, std::string(row.name),
                   fmt::format("{}{}{}: {}", of, of.empty() ? "" : ".", row.name, to_text(row.type)), std::move(doc),
                   row.subject});
  }
  add_members(all);
  for (const WordRow& row : word_rows()) {
    all.push_back({row.kind, std::string(row.name), std::string(row.form), std::string(row.doc), {}});
  }
  return all;
}

std::string cell(std::string_view words) {
  std::string escaped;
  for (const char c : words) {
    if (c == '|') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

void table(std::string& page, std::string_view head, std::string_view title, const std::vector<const Entry*>& rows) {
  page += fmt::format("\n## {}\n\n| {} | meaning |\n|---|---|\n", title, head);
  for (const Entry* entry : rows) page += fmt::format("| `{}` | {} |\n", cell(entry->signature), cell(entry->doc));
}

std::vector<const Entry*> of_kind(Kind kind) {
  std::vector<const Entry*> found;
  for (const Entry& entry : entries()) {
    if (entry.kind == kind) found.push_back(&entry);
  }
  return found;
}

}  // namespace

std::string_view name(Kind kind) {
  switch (kind) {
    case Kind::Function: return "function";
    case Kind::Statistic: return "statistic of actions";
    case Kind::Reduction: return "function of a vector";
    case Kind::Fact: return "fact";
    case Kind::Item: return "declaration";
    case Kind::Statement: return "statement";
    case Kind::Action: return "action";
    case Kind::Point: return "decision point";
    case Kind::Unit: return "unit";
    case Kind::Type: return "type";
    case Kind::Word: return "word";
    case Kind::Operator: return "operator";
    case Kind::Member: return "member";
  }
  return "word";
}

const std::vector<Entry>& entries() {
  static const std::vector<Entry> all = collect();
  return all;
}

bool stands_after_dot(const Entry& entry) {
  return entry.kind == Kind::Member || (entry.kind == Kind::Fact && entry.subject != Subject::Run);
}

std::vector<const Entry*> find(std::string_view name, bool after_dot) {
  std::vector<const Entry*> found;
  for (const Entry& entry : entries()) {
    if (entry.name == name && stands_after_dot(entry) == after_dot) found.push_back(&entry);
  }
  return found;
}

std::string markdown() {
  std::string page =
      "# Reference\n\nMade from the language's own tables by `allot help --reference`; a test compares. What it all "
      "means is told in\n[language.md](language.md).\n";
  table(page, "function", "Functions", of_kind(Kind::Function));
  table(page, "function", "Functions of any vector", of_kind(Kind::Reduction));
  table(page, "call", "Statistics of actions", of_kind(Kind::Statistic));
  for (const Owner& owner : owners) {
    std::vector<const Entry*> facts;
    for (const Entry* entry : of_kind(Kind::Fact)) {
      if (entry->subject == owner.subject) facts.push_back(entry);
    }
    table(page, "fact", fmt::format("Facts of {}", owner.title), facts);
  }
  table(page, "form", "Members", of_kind(Kind::Member));
  table(page, "form", "Operators and words of expressions", of_kind(Kind::Operator));
  for (const Kind kind : {Kind::Item, Kind::Statement, Kind::Action, Kind::Point}) {
    std::string title(name(kind));
    title.front() = static_cast<char>(title.front() - 'a' + 'A');
    table(page, "form", title + "s", of_kind(kind));
  }
  page += "\n## Diagnostics\n\n`allot help CODE` shows each with an example and its cure.\n\n| code | is about |\n|---|---|\n";
  for (const Code* code : all_codes()) page += fmt::format("| `{}` | {} |\n", code->code, cell(code->title));
  return page;
}

}  // namespace allot::lang::reference
