// Values for the parameters of one run.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "lang/check/units.h"
#include "lang/program.h"

namespace allot::lang {
namespace {

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

// Digits, which may be parted by single underscores: "400_000". Nothing where it is written otherwise.
std::optional<std::string> without_underscores(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      result += text[i];
      continue;
    }
    const auto digit = [&](std::size_t at) { return at < text.size() && text[at] >= '0' && text[at] <= '9'; };
    if (i == 0 || !digit(i - 1) || !digit(i + 1)) return std::nullopt;
  }
  return result;
}

Error bad(const Parameter& parameter, const std::string& value, const std::string& why) {
  return {"Parameter `" + parameter.name + "` cannot be `" + value + "`: " + why + ".",
          "It is " + to_text(parameter.type) + ", by default " + show(parameter.value, parameter.type) + "."};
}

// "10 turns" to "10" where the parameter is counted in turns.
std::optional<std::string> without_unit(const std::string& text, const Type& type) {
  const std::size_t space = text.find(' ');
  if (space == std::string::npos) return text;
  const std::optional<BaseUnit> unit = checker::unit_named(trimmed(text.substr(space)));
  if (!unit || !(checker::of(*unit) == type.unit)) return std::nullopt;
  return text.substr(0, space);
}

Result<Cell> read_int(const Parameter& parameter, const std::string& given, const std::string& digits) {
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (problem == std::errc::result_out_of_range) return bad(parameter, given, "it does not fit into 64 bits");
  if (problem != std::errc() || end != digits.data() + digits.size()) {
    return bad(parameter, given, "a whole number is needed");
  }
  return Cell::of(value);
}

Result<Cell> read_real(const Parameter& parameter, const std::string& given, std::string digits) {
  const bool percent = !digits.empty() && digits.back() == '%';
  if (percent) digits.pop_back();
  double value = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (problem != std::errc() || end != digits.data() + digits.size() || !std::isfinite(value)) {
    return bad(parameter, given, "a finite number is needed");
  }
  return Cell::of(percent ? value / 100 : value);
}

Result<Cell> read(const Parameter& parameter, const std::string& given) {
  const std::string text = trimmed(given);
  if (parameter.type.base == Base::Bool) {
    if (text == "true") return Cell::of(true);
    if (text == "false") return Cell::of(false);
    return bad(parameter, given, "`true` or `false` is needed");
  }
  const std::optional<std::string> number = without_unit(text, parameter.type);
  if (!number) {
    const std::string unit = to_text(parameter.type.unit);
    return bad(parameter, given, unit.empty() ? "it is a number without a unit" : "its unit is " + unit);
  }
  const std::optional<std::string> digits = without_underscores(*number);
  if (!digits) return bad(parameter, given, "underscores stand between digits only");
  return parameter.type.base == Base::Int ? read_int(parameter, given, *digits) : read_real(parameter, given, *digits);
}

Result<void> in_range(const Parameter& parameter, const std::string& given, const Cell& cell) {
  const bool whole = parameter.type.base == Base::Int;
  const double value = whole ? static_cast<double>(cell.integer()) : cell.real();
  const auto text = [&](double x) {
    return whole ? show(Cell::of(static_cast<std::int64_t>(x)), parameter.type) : show(Cell::of(x), parameter.type);
  };
  if ((parameter.low && value < *parameter.low) || (parameter.high && value > *parameter.high)) {
    return bad(parameter, given,
               "it lies outside of " + text(parameter.low.value_or(0)) + ".." + text(parameter.high.value_or(0)));
  }
  return {};
}

// Parameters that stand where a count of at least one is needed: N of `turn N`, prefix lengths, budgets, rounds.
Result<void> at_least_one(const Program& program, const std::vector<Cell>& values) {
  const auto fine = [&](const ReadArgument& argument) {
    return argument.kind != ReadArgument::Kind::Parameter ||
           values[static_cast<std::size_t>(argument.integer)].integer() >= 1;
  };
  const auto complain = [&](const ReadArgument& argument, const std::string& what) -> Error {
    const std::size_t index = static_cast<std::size_t>(argument.integer);
    const Parameter& parameter = program.parameters[index];
    return {"Parameter `" + parameter.name + "` is " + show(values[index], parameter.type) + ", but " + what +
                " is at least 1.",
            "Set it to 1 or more."};
  };
  for (const Handler& handler : program.handlers) {
    if (handler.number && !fine(*handler.number)) return complain(*handler.number, "N of `" + handler.text + "`");
    for (const std::vector<ReadKey>* keys : {&handler.reads, &handler.columns}) {
      for (const ReadKey& key : *keys) {
        for (const ReadArgument& argument : key.arguments) {
          if (!fine(argument)) return complain(argument, "the length in `" + key.text + "`");
        }
      }
    }
  }
  for (const Budget& budget : program.budgets) {
    if (!fine(budget.amount)) return complain(budget.amount, "a budget");
  }
  if (program.refill && !fine(program.refill->rounds)) return complain(program.refill->rounds, "the number of rounds");
  return {};
}

}  // namespace

Result<std::vector<Cell>> bind(const Program& program, const std::map<std::string, std::string>& overrides) {
  std::vector<Cell> values;
  std::vector<std::string> names;
  for (const Parameter& parameter : program.parameters) {
    values.push_back(parameter.value);
    names.push_back(parameter.name);
  }
  for (const auto& [name, given] : overrides) {
    const auto it = std::find(names.begin(), names.end(), name);
    if (it == names.end()) {
      const std::string near = near_match(name, names);
      std::string list;
      for (const std::string& known : names) list += (list.empty() ? "" : ", ") + known;
      return Error{"Policy `" + program.name + "` has no parameter `" + name + "`.",
                   !near.empty()   ? "Did you mean `" + near + "`?"
                   : names.empty() ? "It has no parameters."
                                   : "It has " + list + "."};
    }
    const std::size_t index = static_cast<std::size_t>(it - names.begin());
    Result<Cell> value = read(program.parameters[index], given);
    if (!value) return value.error();
    const Result<void> range = in_range(program.parameters[index], given, *value);
    if (!range) return range.error();
    values[index] = *value;
  }
  const Result<void> counts = at_least_one(program, values);
  if (!counts) return counts.error();
  return values;
}

std::int64_t value(const ReadArgument& argument, const std::vector<Cell>& parameters) {
  switch (argument.kind) {
    case ReadArgument::Kind::Integer:
      return argument.integer;
    case ReadArgument::Kind::Parameter:
      return parameters[static_cast<std::size_t>(argument.integer)].integer();
    case ReadArgument::Kind::CurrentTurn:
      return -1;
    case ReadArgument::Kind::Word:
      return 0;
  }
  return 0;
}

}  // namespace allot::lang
