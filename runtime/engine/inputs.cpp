#include "runtime/engine/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "lang/diagnostics.h"

namespace allot::engine {
namespace {

using lang::Base;
using lang::Cell;
using lang::State;
using lang::StateScope;

std::string_view per(StateScope scope) {
  return scope == StateScope::Run ? "run" : scope == StateScope::Category ? "category" : "prompt";
}

std::string declared(const State& input) {
  return fmt::format("`input {}: {} per {}`", input.name, lang::to_text(input.type), per(input.scope));
}

std::string key_words(const std::string& key) { return key.empty() ? "" : fmt::format(" of \"{}\"", key); }

// Why a number cannot be a value of that type.
std::optional<std::string> misfit(const lang::Type& type, double value) {
  if (!std::isfinite(value)) return "it is not a finite number";
  if (type.base == Base::Bool && value != 0 && value != 1) return "true or false (1 or 0) is needed";
  if (type.base == Base::Int && value != std::floor(value)) return "a whole number is needed";
  if (type.base == Base::Int && std::abs(value) > 9e15) return "it is too large";
  if (type.prob && (value < 0 || value > 1)) return "a number in 0..1 is needed";
  return std::nullopt;
}

Cell cell_of(const lang::Type& type, double value) {
  if (type.base == Base::Bool) return Cell::of(value != 0);
  if (type.base == Base::Int) return Cell::of(static_cast<std::int64_t>(value));
  return Cell::of(value);
}

Result<void> check_values(const State& input, const std::map<std::string, double>& values) {
  for (const auto& [key, value] : values) {
    if ((input.scope == StateScope::Run) != key.empty()) {
      if (input.scope == StateScope::Run) {
        return Error{fmt::format("{} has one value for the whole run.", declared(input)), "give a number, not a table"};
      }
      return Error{fmt::format("{} has one value for each {}; one named \"\" can have none.", declared(input), per(input.scope)),
                   fmt::format("give a table of them, not a number, and each {} a name", per(input.scope))};
    }
    if (const auto why = misfit(input.type, value)) {
      return Error{fmt::format("{}: {}{} cannot be {}: {}.", declared(input), input.name, key_words(key), value, *why), ""};
    }
  }
  return {};
}

}  // namespace

Result<InputValues> read_inputs(const std::filesystem::path& file) {
  const std::string form = R"(write {"difficulty": {"a prompt": 0.3}, "anchor": 0.5})";
  std::ifstream stream(file);
  if (!stream) return Error{"The inputs " + file.string() + " cannot be read.", "give a JSON file"};
  const auto json = nlohmann::json::parse(stream, nullptr, false);
  if (!json.is_object()) return Error{"The inputs " + file.string() + " are no JSON object.", form};
  InputValues values;
  for (const auto& [name, given] : json.items()) {
    std::map<std::string, double>& table = values[name];
    const auto number = [](const nlohmann::json& value) {
      return value.is_boolean() ? (value.get<bool>() ? 1.0 : 0.0) : value.get<double>();
    };
    const auto fits = [](const nlohmann::json& value) { return value.is_number() || value.is_boolean(); };
    if (fits(given)) {
      table[""] = number(given);
    } else if (given.is_object()) {
      for (const auto& [key, value] : given.items()) {
        if (value.is_null()) continue;
        if (!fits(value)) return Error{fmt::format("{}: `{}` of \"{}\" is no number.", file.string(), name, key), form};
        table[key] = number(value);
      }
    } else if (!given.is_null()) {
      return Error{fmt::format("{}: `{}` is neither a number nor a table of them.", file.string(), name), form};
    }
  }
  return values;
}

Result<void> check_inputs(const lang::Program& program, const InputValues& values) {
  std::vector<std::string> known;
  for (const State& state : program.states) {
    if (!state.input) continue;
    known.push_back(state.name);
    const auto given = values.find(state.name);
    if (given == values.end()) {
      return Error{fmt::format("Policy `{}` needs {}, which this run does not supply.", program.name, declared(state)),
                   "supply it: a table of values by " + std::string(per(state.scope)) +
                       (state.type.optional ? ", an empty one where nothing is known" : "")};
    }
    if (auto good = check_values(state, given->second); !good) return good;
    if (state.scope == StateScope::Run && !state.type.optional && given->second.empty()) {
      return Error{fmt::format("{} has no value.", declared(state)), "give a number"};
    }
  }
  for (const auto& [name, table] : values) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string near = lang::near_match(name, known);
    return Error{fmt::format("Policy `{}` has no input `{}`.", program.name, name),
                 near.empty() ? "leave it out, or declare it: `input " + name + ": real? per prompt`"
                              : "did you mean `" + near + "`?"};
  }
  return {};
}

Result<void> check_inputs(const lang::Program& program, const InputValues& values,
                          const std::vector<std::string>& prompts) {
  for (const State& state : program.states) {
    if (!state.input || state.type.optional || state.scope != StateScope::Prompt) continue;
    const auto given = values.find(state.name);
    for (const std::string& prompt : prompts) {
      if (given != values.end() && given->second.contains(prompt)) continue;
      return Error{fmt::format("{} has no value for the prompt \"{}\".", declared(state), prompt),
                   "supply it, or declare the input as `" + lang::to_text(state.type) + "?`"};
    }
  }
  return {};
}

InputValues declared_inputs(const lang::Program& program, const InputValues& values) {
  InputValues declared;
  for (const lang::State& state : program.states) {
    const auto given = values.find(state.name);
    if (state.input && given != values.end()) declared.insert(*given);
  }
  return declared;
}

void supply(const lang::Program& program, const InputValues& values, StateStore& store) {
  for (std::size_t i = 0; i < program.states.size(); ++i) {
    const State& state = program.states[i];
    const auto given = values.find(state.name);
    if (!state.input || given == values.end()) continue;
    for (const auto& [key, value] : given->second) {
      const std::array cell{cell_of(state.type, value)};
      if (state.scope == StateScope::Run) store.write_run(i, cell);
      if (state.scope == StateScope::Prompt) store.write_prompt(key, i, cell);
      if (state.scope == StateScope::Category) store.write_category(key, i, cell);
    }
  }
}

}  // namespace allot::engine
