#include "lang/difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

namespace allot::lang {
namespace {

using Change = Difference::Effect;

std::string range_text(const Parameter& parameter) {
  if (!parameter.low && !parameter.high) return "unbounded";
  return fmt::format("{}..{}", parameter.low ? fmt::format("{}", *parameter.low) : "",
                     parameter.high ? fmt::format("{}", *parameter.high) : "");
}

constexpr double infinity = std::numeric_limits<double>::infinity();

bool narrower(const Parameter& before, const Parameter& after) {
  return after.low.value_or(-infinity) > before.low.value_or(-infinity) ||
         after.high.value_or(infinity) < before.high.value_or(infinity);
}

constexpr std::string_view scope_names[] = {"group", "prompt", "category", "run"};

std::string_view scope_name(StateScope scope) { return scope_names[static_cast<std::size_t>(scope)]; }

std::string initial_text(const State& state) {
  return state.type.vector() ? show(std::span<const Cell>(state.initial), state.type) : show(state.initial.front(), state.type);
}

class Comparison {
 public:
  Comparison(const Program& before, const Program& after) : before_(before), after_(after) {}

  std::vector<Difference> run() {
    parameters();
    states(true);
    states(false);
    points();
    statistics();
    declarations();
    functions();
    reports();
    return std::move(found_);
  }

 private:
  void tell(Change effect, std::string part, std::string name, std::string words) {
    found_.push_back({effect, std::move(part), std::move(name), std::move(words)});
  }

  // Calls `both`, `gone` or `fresh` for the names of two maps, in the order of the names.
  template <typename Map, typename Both, typename Gone, typename Fresh>
  static void pair(const Map& before, const Map& after, Both both, Gone gone, Fresh fresh) {
    for (const auto& [name, old] : before) {
      const auto it = after.find(name);
      it == after.end() ? gone(name, old) : both(name, old, it->second);
    }
    for (const auto& [name, now] : after) {
      if (!before.contains(name)) fresh(name, now);
    }
  }

  void parameters() {
    const auto by_name = [](const Program& program) {
      std::map<std::string, const Parameter*> all;
      for (const Parameter& each : program.parameters) all.emplace(each.name, &each);
      return all;
    };
    pair(by_name(before_), by_name(after_), [&](const auto& name, const Parameter* was, const Parameter* is) { parameter(name, *was, *is); },
         [&](const auto& name, const Parameter*) { tell(Change::Breaks, "parameter", name, "is gone: a run that sets it is refused"); },
         [&](const auto& name, const Parameter* is) {
           tell(Change::Adds, "parameter", name, fmt::format("is new: {} = {}", to_text(is->type), show(is->value, is->type)));
         });
  }

  void parameter(const std::string& name, const Parameter& was, const Parameter& is) {
    Type old_type = was.type, new_type = is.type;
    old_type.prob = new_type.prob = false;  // the range tells
    if (!(old_type == new_type)) {
      return tell(Change::Breaks, "parameter", name, fmt::format("is of type {}, and was {}", to_text(is.type), to_text(was.type)));
    }
    if (was.low != is.low || was.high != is.high) {
      const bool less = narrower(was, is);
      tell(less ? Change::Breaks : Change::Adds, "parameter", name,
           fmt::format("its range is {}, and was {}{}", range_text(is), range_text(was), less ? ": values that fitted do not" : ""));
    }
    if (show(was.value, was.type) != show(is.value, is.type)) {
      tell(Change::Decides, "parameter", name, fmt::format("its default is {}, and was {}", show(is.value, is.type), show(was.value, was.type)));
    }
  }

  void states(bool inputs) {
    const auto by_name = [&](const Program& program) {
      std::map<std::string, std::pair<const State*, int>> all;
      for (std::size_t i = 0; i < program.states.size(); ++i) {
        if (program.states[i].input == inputs) all.emplace(program.states[i].name, std::pair(&program.states[i], static_cast<int>(i)));
      }
      return all;
    };
    const std::string part = inputs ? "input" : "state";
    pair(by_name(before_), by_name(after_),
         [&](const auto& name, const auto& was, const auto& is) { state(part, name, *was.first, *is.first, is.second); },
         [&](const auto& name, const auto& was) {
           tell(Change::Adds, part, name, inputs ? "is gone: the host need not give it" : fmt::format("is gone: what it held per {} is dropped", scope_name(was.first->scope)));
         },
         [&](const auto& name, const auto& is) {
           const bool needed = inputs && !is.first->type.optional;
           tell(needed ? Change::Breaks : Change::Adds, part, name,
                fmt::format("is new: {} per {}{}", to_text(is.first->type), scope_name(is.first->scope), needed ? ", and the host must give it" : ""));
         });
  }

  void state(const std::string& part, const std::string& name, const State& was, const State& is, int index) {
    const bool migrated = std::any_of(after_.migrations.begin(), after_.migrations.end(),
                                      [&](const Migration& each) { return each.state == index && each.from == was.type; });
    if (!(was.type == is.type) || was.scope != is.scope) {
      const bool carried = migrated && was.scope == is.scope;
      // State of a group that cannot be carried begins anew with the next group.
      const bool breaks = !carried && (is.input || was.scope != StateScope::Group);
      return tell(breaks ? Change::Breaks : Change::Decides, part, name,
                  fmt::format("is {} per {}, and was {} per {}{}", to_text(is.type), scope_name(is.scope), to_text(was.type), scope_name(was.scope),
                              carried  ? ": its `migrate` says what becomes of it"
                              : breaks && !is.input ? fmt::format(": what was remembered is lost without `migrate {} from {} = …`", name, to_text(was.type))
                                       : ""));
    }
    if (is.input) return;
    if (initial_text(was) != initial_text(is)) {
      tell(Change::Decides, part, name, fmt::format("begins with {}, and began with {}", initial_text(is), initial_text(was)));
    }
    if (was.decay != is.decay) tell(Change::Decides, part, name, "its decay differs");
    if (was.low != is.low || was.high != is.high) tell(Change::Decides, part, name, "its range differs");
  }

  static std::string handler_text(const Program& program, const Handler& handler) {
    std::string text = one_line(program.source->text(handler.span));
    for (const Rule& rule : handler.rules) {
      for (const Span& origin : rule.origins) text += " + " + one_line(program.source->text(origin));
    }
    return text;
  }

  void points() {
    const auto by_text = [](const Program& program) {
      std::map<std::string, std::string> all;
      for (const Handler& each : program.handlers) all[each.text] += handler_text(program, each);
      return all;
    };
    pair(by_text(before_), by_text(after_),
         [&](const auto& name, const std::string& was, const std::string& is) {
           if (was != is) tell(Change::Decides, "point", name, "is answered by other rules");
         },
         [&](const auto& name, const auto&) { tell(Change::Decides, "point", name, "is not answered any more: the default holds"); },
         [&](const auto& name, const auto&) { tell(Change::Decides, "point", name, "is answered now, and was left to the default"); });
  }

  // Facts with arguments are what a run must keep count of.
  void statistics() {
    const auto all_of = [](const Program& program) {
      std::map<std::string, int> all;
      for (const Handler& handler : program.handlers) {
        for (const auto* keys : {&handler.reads, &handler.columns}) {
          for (const ReadKey& key : *keys) {
            if (!key.arguments.empty()) ++all[one_line(key.text)];
          }
        }
      }
      return all;
    };
    pair(all_of(before_), all_of(after_), [](const auto&, int, int) {},
         [&](const auto& name, int) { tell(Change::Adds, "statistic", name, "is kept no more"); },
         [&](const auto& name, int) { tell(Change::Adds, "statistic", name, "is kept from now on; in a swap it is rebuilt for open groups"); });
  }

  static std::string amount(const Program& program, const ReadArgument& given) {
    if (given.kind != ReadArgument::Kind::Parameter) return std::to_string(given.integer);
    const Parameter& parameter = program.parameters[static_cast<std::size_t>(given.integer)];
    return fmt::format("{} = {}", parameter.name, show(parameter.value, parameter.type));
  }

  // Each by its own name, with all that it says in one text.
  static std::map<std::pair<std::string, std::string>, std::string> declared(const Program& program) {
    std::map<std::pair<std::string, std::string>, std::string> all;
    for (const Budget& each : program.budgets) {
      all[{"budget", std::string(name(each.unit))}] =
          fmt::format("{} per {}{}", amount(program, each.amount), each.per_run ? "run" : "iteration", each.carry_over ? ", carried over" : "");
    }
    if (program.refill) {
      constexpr std::string_view fallbacks[] = {"train_partial", "skip_update", "abort"};
      all[{"declaration", "refill"}] = fmt::format("at most {} rounds then {}", amount(program, program.refill->rounds),
                                                   fallbacks[static_cast<std::size_t>(program.refill->then)]);
    }
    if (program.hit) all[{"declaration", "hit"}] = one_line(program.source->text(program.hit->span));
    if (program.flat_within != 0) all[{"declaration", "flat"}] = fmt::format("within {}", program.flat_within);
    return all;
  }

  void declarations() {
    pair(declared(before_), declared(after_),
         [&](const auto& name, const std::string& was, const std::string& is) {
           if (was != is) tell(Change::Decides, name.first, name.second, fmt::format("is {}, and was {}", is, was));
         },
         [&](const auto& name, const std::string& was) { tell(Change::Decides, name.first, name.second, fmt::format("is gone, and was {}", was)); },
         [&](const auto& name, const std::string& is) { tell(Change::Decides, name.first, name.second, fmt::format("is new: {}", is)); });
  }

  struct Function {
    std::string signature, body;
  };

  static std::map<std::string, Function> functions_of(const Program& program) {
    std::map<std::string, Function> all;
    const auto text = [&](Span span) { return one_line(program.source->text(span)); };
    for (const tree::FunctionDecl& each : program.tree->functions) {
      if (each.imported) continue;
      std::string signature;
      for (const tree::Param& param : each.params) signature += (signature.empty() ? "" : ", ") + param.name.text + ": " + text(param.type.span);
      all[each.name.text] = {fmt::format("({}) -> {}", signature, text(each.result.span)),
                             each.body == tree::none ? "" : text((*program.tree)[each.body].span)};
    }
    return all;
  }

  void functions() {
    if (!before_.tree || !after_.tree) return;
    pair(functions_of(before_), functions_of(after_),
         [&](const auto& name, const Function& was, const Function& is) {
           if (was.signature != is.signature)
             tell(Change::Breaks, "function", name, fmt::format("is {}, and was {}", is.signature, was.signature));
           else if (was.body != is.body)
             tell(Change::Decides, "function", name, fmt::format("is {}, and was {}", is.body, was.body));
         },
         [&](const auto& name, const Function&) { tell(Change::Breaks, "function", name, "is gone: policies that import it are refused"); },
         [&](const auto& name, const Function&) { tell(Change::Adds, "function", name, "is new"); });
  }

  void reports() {
    for (const std::string& name : before_.reports) {
      if (std::find(after_.reports.begin(), after_.reports.end(), name) == after_.reports.end())
        tell(Change::Decides, "report", name, "is not written any more");
    }
    for (const std::string& name : after_.reports) {
      if (std::find(before_.reports.begin(), before_.reports.end(), name) == before_.reports.end())
        tell(Change::Adds, "report", name, "is new");
    }
  }

  const Program& before_;
  const Program& after_;
  std::vector<Difference> found_;
};

}  // namespace

std::vector<Difference> differences(const Program& before, const Program& after) { return Comparison(before, after).run(); }

bool compatible(const std::vector<Difference>& differences) {
  return std::none_of(differences.begin(), differences.end(), [](const Difference& each) { return each.effect == Change::Breaks; });
}

}  // namespace allot::lang
