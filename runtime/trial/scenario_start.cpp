#include "runtime/trial/scenario_start.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "compiler/executable.h"
#include "lang/compose/library.h"
#include "runtime/trial/view.h"

namespace allot::trial {
namespace {

using lang::Cell;
namespace tree = lang::tree;

class Starting {
 public:
  Starting(const lang::Program& program, const tree::ScenarioDecl& scenario, bool native, Allowance& allowance)
      : program_(program), tree_(*program.tree), scenario_(scenario), native_(native), allowance_(allowance) {}

  Result<ScenarioStart> run() {
    if (auto bound = bind_parameters(); !bound) return bound.error();
    auto program = std::make_shared<lang::Program>(program_);
    settings_.slots = 1;
    settings_.group_size = usual_size();
    settings_.native = false;
    settings_.clock = [] { return 0.0; };  // or a budget of seconds would come out differently each time
    settings_.host = {.defers = true, .shapes = true, .replays = true, .branches = false, .scores = true};
    for (const tree::HostSetting& host : scenario_.host) {
      if (auto taken = take(host, *program); !taken) return taken.error();
    }
    for (const tree::KeyedGiven& given : scenario_.givens) {
      if (auto taken = is_category(given) ? take_category(given) : take_input(given); !taken) return taken.error();
    }
    for (const lang::State& state : program_.states) {
      if (state.input) settings_.inputs[state.name];
    }
    if (auto begun = begin_engine(std::move(program)); !begun) return begun.error();
    for (const tree::KeyedGiven& given : scenario_.givens) {
      if (is_category(given)) continue;
      if (auto taken = take_state(given); !taken) return taken.error();
    }
    return std::move(start_);
  }

 private:
  Result<void> bind_parameters() {
    std::map<std::string, std::string> set;
    for (const tree::Setting& setting : scenario_.settings) {
      set[setting.name.text] = std::string(program_.source->text(tree_[setting.value].span));
    }
    auto parameters = lang::bind(program_, set);
    if (!parameters) return parameters.error();
    start_.parameters = *std::move(parameters);
    return {};
  }

  Result<void> begin_engine(std::shared_ptr<lang::Program> program) {
    auto executable = compiler::evaluate(*program);
#ifdef ALLOT_HAS_NATIVE
    if (native_) {
      auto code = compiler::compile(*program);
      if (!code) return code.error();
      executable = *std::move(code);
    }
#endif
    auto policy = std::make_shared<engine::Policy>(std::move(program), start_.parameters, std::move(executable));
    auto engine = engine::LiveEngine::create(settings_, std::move(policy));
    if (!engine) return engine.error();
    start_.engine = *std::move(engine);
    if (start_.pool.empty()) return {};
    std::vector<engine::PoolPrompt> prompts;
    for (const std::string& prompt : start_.pool) prompts.push_back({prompt, categories_[prompt]});
    return start_.engine->set_pool(std::move(prompts));
  }

  // As many rollouts as the first group has scores.
  int usual_size() const {
    for (const tree::Iteration& iteration : scenario_.iterations) {
      for (const tree::ScenarioGroup& group : iteration.groups) {
        return std::max(1, static_cast<int>(group.scores.size()));
      }
    }
    return 1;
  }

  Result<std::int64_t> count(const tree::HostSetting& host) {
    const tree::Expr& expr = tree_[host.values.front()];
    if (expr.kind == tree::ExprKind::Name) {
      for (std::size_t i = 0; i < program_.parameters.size(); ++i) {
        if (program_.parameters[i].name == expr.text) return start_.parameters[i].integer();
      }
    }
    auto value = literal(tree_, host.values.front(), allowance_);
    if (!value) return value.error();
    if (value->kind != Value::Kind::Int || value->integer < 0) {
      return Error{fmt::format("`{}` is a whole number, 0 or more", host.name.text), ""};
    }
    return value->integer;
  }

  Result<void> take(const tree::HostSetting& host, lang::Program& program) {
    if (host.name.text == "pool") {
      for (const tree::ExprId id : host.values) {
        auto prompt = literal(tree_, id, allowance_);
        if (!prompt) return prompt.error();
        start_.pool.push_back(prompt->text);
      }
      return {};
    }
    auto number = count(host);
    if (!number) return number.error();
    const int small = static_cast<int>(std::min<std::int64_t>(*number, 1'000'000));
    if (host.name.text == "slots") settings_.slots = small;
    if (host.name.text == "size") settings_.group_size = small;
    if (host.name.text == "turn_limit") settings_.turn_limit = small;
    if (host.name.text == "turn_tokens") start_.tokens = settings_.tokens_per_turn = small;
    if (host.name.text == "seed") settings_.seed = static_cast<std::uint64_t>(*number);
    if (host.name.text != "budget") return {};
    const std::string& unit = tree_[host.values.front()].unit;
    for (lang::Budget& budget : program.budgets) {
      if (!unit.empty() && lang::name(budget.unit) != unit) continue;
      budget.amount = {};
      budget.amount.integer = *number;
      return {};
    }
    return Error{"the policy declares no budget" + (unit.empty() ? "" : " in " + unit), "leave `budget` out"};
  }

  Result<std::string> key_of(const tree::KeyedGiven& given) {
    if (given.key == tree::none) return std::string();
    auto key = literal(tree_, given.key, allowance_);
    if (!key) return key.error();
    if (key->kind != Value::Kind::String) return Error{"the key of state is a prompt in quotes", ""};
    return key->text;
  }

  // `given category["a"] = "algebra"`, where the policy has no state of that name.
  bool is_category(const tree::KeyedGiven& given) const {
    return given.name.text == "category" && !state_named(program_, given.name.text);
  }

  Result<void> take_category(const tree::KeyedGiven& given) {
    auto key = key_of(given);
    auto value = literal(tree_, given.value, allowance_);
    if (!key) return key.error();
    if (!value) return value.error();
    if (value->kind != Value::Kind::String) return Error{"a category is a text in quotes", ""};
    if (std::find(start_.pool.begin(), start_.pool.end(), *key) == start_.pool.end()) {
      return Error{fmt::format("`{}` is no prompt of the pool, and those alone have a category", *key),
                   "name all prompts before: `pool a, b`"};
    }
    categories_[*key] = value->text;
    return {};
  }

  Result<void> take_input(const tree::KeyedGiven& given) {
    const auto state = state_named(program_, given.name.text);
    if (!state || !program_.states[*state].input) return {};
    auto key = key_of(given);
    auto value = literal(tree_, given.value, allowance_);
    if (!key) return key.error();
    if (!value) return value.error();
    if (value->kind == Value::Kind::Undefined) return {};
    settings_.inputs[given.name.text][*key] =
        value->kind == Value::Kind::Real ? value->real : static_cast<double>(value->integer);
    return {};
  }

  Result<void> take_state(const tree::KeyedGiven& given) {
    const auto index = state_named(program_, given.name.text);
    if (!index) return Error{fmt::format("there is no state `{}`", given.name.text), ""};
    const lang::State& state = program_.states[*index];
    if (state.input) return {};
    auto key = key_of(given);
    auto value = literal(tree_, given.value, allowance_);
    if (!key) return key.error();
    if (!value) return value.error();
    const std::vector<Cell> cell = value->cells(state.type.base);
    if (static_cast<std::int64_t>(cell.size()) != state.type.cells()) {
      return Error{fmt::format("`{}` is {}", state.name, lang::to_text(state.type)), "give a value of that type"};
    }
    if (state.scope == lang::StateScope::Prompt) {
      start_.engine->state().write_prompt(*key, *index, cell);
    } else if (state.scope == lang::StateScope::Category) {
      start_.engine->state().write_category(*key, *index, cell);
    } else if (state.scope == lang::StateScope::Run) {
      start_.engine->state().write_run(*index, cell);
    } else {
      return Error{fmt::format("`{}` cannot be given: state per group begins with its group", state.name), ""};
    }
    return {};
  }

  const lang::Program& program_;
  const tree::File& tree_;
  const tree::ScenarioDecl& scenario_;
  [[maybe_unused]] bool native_;
  Allowance& allowance_;
  engine::Settings settings_;
  std::map<std::string, std::string> categories_;  // of the pool's prompts, where they have one
  ScenarioStart start_;
};

}  // namespace

Result<ScenarioStart> start(const lang::Program& program, const tree::ScenarioDecl& scenario, bool native,
                            Allowance& allowance) {
  return Starting(program, scenario, native, allowance).run();
}

}  // namespace allot::trial
