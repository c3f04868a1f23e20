#include "runtime/engine/version.h"

#include <algorithm>

#include <fmt/format.h>

namespace allot::engine {
namespace {

using lang::Point;
using lang::Subject;

int longest_replay(const Version& version) {
  std::int64_t longest = 0;
  for (const int index : version.points.handlers(Point::Replay)) {
    const lang::Handler& handler = version.program().handlers[static_cast<std::size_t>(index)];
    for (const lang::Rule& rule : handler.rules) {
      if (rule.verdict.age_limit < 0) continue;
      const lang::Node& node = handler.nodes[static_cast<std::size_t>(rule.verdict.age_limit)];
      if (node.op == lang::Op::Constant) longest = std::max(longest, node.cell.integer());
      if (node.op == lang::Op::Parameter) {
        longest = std::max(longest, version.policy->parameters()[static_cast<std::size_t>(node.index)].integer());
      }
    }
  }
  return static_cast<int>(std::clamp<std::int64_t>(longest, 0, 1 << 20));
}

// What is left of a budget is the only thing that turns of other groups change.
bool reads_no_budget(const lang::Handler& handler) {
  const auto of_budget = [](const lang::ReadKey& key) {
    return key.fact == lang::Fact::BudgetTotal || key.fact == lang::Fact::BudgetSpent || key.fact == lang::Fact::BudgetLeft;
  };
  return std::none_of(handler.reads.begin(), handler.reads.end(), of_budget) &&
         std::none_of(handler.columns.begin(), handler.columns.end(), of_budget);
}

bool only_remembers(const lang::Handler& handler) {
  const auto remembers = [](const lang::Effect& effect) { return effect.kind == lang::EffectKind::Remember; };
  return std::all_of(handler.effects.begin(), handler.effects.end(), remembers);
}

bool same(const lang::State& a, const lang::State& b) {
  return a.name == b.name && a.type == b.type && a.scope == b.scope && a.initial == b.initial && a.low == b.low &&
         a.high == b.high && a.decay == b.decay && a.input == b.input;
}

std::string state_difference(const lang::Program& one, const lang::Program& other) {
  for (const auto& [from, to] : {std::pair(&one, &other), std::pair(&other, &one)}) {
    for (const lang::State& state : from->states) {
      const auto found = std::find_if(to->states.begin(), to->states.end(), [&](const lang::State& each) { return each.name == state.name; });
      if (found == to->states.end()) return fmt::format("one of them has no state `{}`", state.name);
      if (!same(state, *found)) return fmt::format("the state `{}` is declared otherwise", state.name);
    }
  }
  const bool in_order = std::equal(one.states.begin(), one.states.end(), other.states.begin(), other.states.end(),
                                   [](const lang::State& a, const lang::State& b) { return a.name == b.name; });
  return in_order ? "" : "the states stand in another order";
}

std::string budget_difference(const Version& one, const Version& other) {
  const auto budgets = [](const Version& version) {
    std::vector<std::tuple<lang::BaseUnit, std::int64_t, bool, bool>> all;
    for (const lang::Budget& budget : version.program().budgets) {
      all.emplace_back(budget.unit, lang::value(budget.amount, version.policy->parameters()), budget.per_run, budget.carry_over);
    }
    return all;
  };
  return budgets(one) == budgets(other) ? "" : "the budgets differ";
}

std::string demand_difference(const Version& one, const Version& other) {
  const auto shapes = [](const Version& version, Subject subject) { return version.points.has(Point::Shape, subject); };
  if (one.demands.defers != other.demands.defers) return "only one of them defers groups";
  if (one.demands.history != other.demands.history) return "only one of them looks back at prompts";
  if (one.replay_age != other.replay_age) return "they replay groups of different ages";
  if (one.demands.gram != other.demands.gram || one.demands.embeddings != other.demands.embeddings ||
      shapes(one, Subject::Group) != shapes(other, Subject::Group) ||
      shapes(one, Subject::MicroBatch) != shapes(other, Subject::MicroBatch)) {
    return "only one of them shapes advantages that way";
  }
  return "";
}

}  // namespace

Version::Version(int number, std::shared_ptr<Policy> of)
    : number(number), policy(std::move(of)), judge(policy, number), points(policy->program(), policy->parameters()),
      demands(Demands::of(policy->program())), plan(StatisticsPlan::of(policy->program(), policy->parameters())) {
  replay_age = longest_replay(*this);
  for (const lang::Handler& handler : program().handlers) own_group.push_back(reads_no_budget(handler) && only_remembers(handler));
  own_hit = !program().hit || reads_no_budget(*program().hit);
}

JudgeCounts Version::counts() const {
  JudgeCounts all = judge.counts();
  beside.add_to(all);
  return all;
}

void Version::reset_counts() {
  judge.reset_counts();
  beside.reset_counts();
}

void Version::become(int place) {
  number = place;
  judge.set_version(place);
}

bool same_frame(const Version& one, const Version& other) { return frame_difference(one, other).empty(); }

std::string frame_difference(const Version& one, const Version& other) {
  if (std::string states = state_difference(one.program(), other.program()); !states.empty()) return states;
  if (std::string budgets = budget_difference(one, other); !budgets.empty()) return budgets;
  return demand_difference(one, other);
}

bool same_states(const std::vector<lang::State>& ones, const std::vector<lang::State>& others) {
  return std::equal(ones.begin(), ones.end(), others.begin(), others.end(), same);
}

bool ranks(const lang::Program& program) {
  return std::any_of(program.handlers.begin(), program.handlers.end(), [](const lang::Handler& handler) {
    const bool of_many = handler.subject == Subject::Pool || handler.point == Point::Resume ||
                         (handler.point == Point::Wave && handler.subject == Subject::Batch) ||
                         (handler.point == Point::Replay) || !handler.allotments.empty();
    return of_many && handler.point != Point::Update && handler.point != Point::Epoch;
  });
}

}  // namespace allot::engine
