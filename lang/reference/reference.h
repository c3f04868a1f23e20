// Everything of the language that has a name, with what it means: one list for editors, the prompt and the document.
//
// Functions and facts come from their own tables; words of the grammar have their sentence in words.cpp of this folder,
// and a test asks for one of each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lang/facts.h"

namespace allot::lang::reference {

enum class Kind { Function, Statistic, Reduction, Fact, Item, Statement, Action, Point, Unit, Type, Word, Operator, Member };
std::string_view name(Kind kind);  // "function", "statistic of actions", …

struct Entry {
  Kind kind = Kind::Word;
  std::string name;        // "hits", "mean_pairwise", "when"
  std::string signature;   // how it is written: "g.hits: rollouts", "clamp(x, low, high)", "when COND then VERDICT"
  std::string doc;         // a sentence or more, with units, ranges, and what is undefined
  Subject subject = Subject::Run;  // of a fact or a member
};

// Facts of a subject and what else it has: `g.hits`, `b.prompts`, `g.budget`.
bool stands_after_dot(const Entry& entry);

// In the order of their tables: functions, statistics, reductions, facts, words.
const std::vector<Entry>& entries();

// The entries of a name; of a fact after a dot, those of any subject.
std::vector<const Entry*> find(std::string_view name, bool after_dot);

// "Reads, types and functions" as Markdown, what docs/reference.md holds: `allot help --reference`.
std::string markdown();

}  // namespace allot::lang::reference
