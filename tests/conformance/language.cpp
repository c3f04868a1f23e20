#include "tests/conformance/language.h"

#include <array>
#include <stdexcept>

#include "compiler/executable.h"
#include "lang/program.h"

namespace allot::conformance {
namespace {

std::string literal(const Json& value) {
  if (value.is_null()) return "undefined";
  if (value.is_number()) {
    const std::string digits = value.dump();
    return digits.starts_with('-') ? "(" + digits + ")" : digits;
  }
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const Json& element : value) text += (text.empty() ? "" : ", ") + literal(element);
  return "[" + text + "]";
}

Json to_json(const lang::Cell& cell, const lang::Type& type) {
  if (cell.defined == 0) return nullptr;
  if (type.base == lang::Base::Bool) return cell.truth();
  if (type.base == lang::Base::Int) return cell.integer();
  return cell.real();
}

Json value_of(const lang::Program& program) {
  const lang::Handler& handler = program.handlers.front();
  const bool vector = !handler.rules.empty();
  const lang::NodeId node = vector ? handler.rules.front().verdict.amount : handler.effects.front().value;
  const lang::Type& type = handler.nodes[static_cast<std::size_t>(node)].type;
  lang::Cell report = lang::Cell::undefined();
  compiler::Outcome outcome;
  outcome.reports = &report;
  compiler::Scratch scratch(1 << 18);
  const std::array<std::int64_t, lang::scope_count> sizes{};
  compiler::Frame frame;
  frame.scope_sizes = sizes.data();
  frame.scratch = &scratch;
  compiler::evaluate(program)->decide(0, frame, outcome);
  if (outcome.fault != compiler::FaultKind::None) throw std::runtime_error("the expression faults");
  if (!vector) return to_json(report, type);
  Json list = Json::array();
  for (std::int64_t i = 0; i < outcome.amounts.size; ++i) list.push_back(to_json(outcome.amounts.cells[i], type));
  return list;
}

}  // namespace

std::string filled(const std::string& expression, const Json& inputs) {
  std::string text;
  std::size_t at = 0;
  for (std::size_t open = expression.find('{'); open != std::string::npos; open = expression.find('{', at)) {
    if (expression[open + 1] == ' ') {  // of a record
      text += expression.substr(at, open + 1 - at);
      at = open + 1;
      continue;
    }
    const std::size_t close = expression.find('}', open);
    text += expression.substr(at, open - at) + literal(inputs.at(expression.substr(open + 1, close - open - 1)));
    at = close + 1;
  }
  return text + expression.substr(at);
}

Json asked(const std::string& expression, const Json& inputs) {
  const auto source = std::make_shared<const lang::Source>("expression", filled(expression, inputs));
  lang::Diagnostics diagnostics;
  const std::optional<lang::Program> program = lang::check_expression(source, diagnostics);
  if (!program) throw std::runtime_error(lang::render_all(diagnostics, *source));
  return value_of(*program);
}

Json with(Json inputs, const Json& more) {
  inputs.update(more);
  return inputs;
}

}  // namespace allot::conformance
