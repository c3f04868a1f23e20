// What the grammar offers to the parser: one function per kind of item, without Spirit in sight.
// Each reads the range as one whole item and throws Refused with the message where it is none.
#pragma once

#include "lang/grammar/state.h"

namespace allot::lang::grammar {

void read_expression(State& state, Iterator first, Iterator last, tree::ExprId& found);
struct PolicyLine {
  tree::Name name;
  std::vector<tree::Member> members;
};
void read_policy(State& state, Iterator first, Iterator last, PolicyLine& found);
void read_import(State& state, Iterator first, Iterator last, tree::ImportDecl& found);
void read_migrate(State& state, Iterator first, Iterator last, tree::MigrateDecl& found);
void read_param(State& state, Iterator first, Iterator last, tree::Param& found);
void read_state(State& state, Iterator first, Iterator last, tree::StateDecl& found);
void read_input(State& state, Iterator first, Iterator last, tree::InputDecl& found);
void read_budget(State& state, Iterator first, Iterator last, tree::BudgetDecl& found);
void read_refill(State& state, Iterator first, Iterator last, tree::RefillDecl& found);
void read_function(State& state, Iterator first, Iterator last, tree::FunctionDecl& found);
void read_hit(State& state, Iterator first, Iterator last, tree::ExprId& found);
void read_flat(State& state, Iterator first, Iterator last, tree::ExprId& found);
void read_handler(State& state, Iterator first, Iterator last, tree::Handler& found);
void read_test(State& state, Iterator first, Iterator last, tree::TestDecl& found);
void read_scenario(State& state, Iterator first, Iterator last, tree::ScenarioDecl& found);

}  // namespace allot::lang::grammar
