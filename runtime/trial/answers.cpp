#include "runtime/trial/answers.h"

#include <set>

#include <fmt/format.h>

#include "runtime/engine/points.h"
#include "runtime/trial/asked.h"
#include "runtime/trial/expected.h"

namespace allot::trial {

std::string values_of(const lang::Program& program, const lang::Handler& handler, const std::vector<Cell>& reads,
                      const std::vector<std::string>& prompts, const std::vector<Cell>& parameters) {
  std::string trace;
  for (std::size_t i = 0; i < handler.reads.size(); ++i) {
    const lang::ReadKey& key = handler.reads[i];
    const bool prompt = key.type.base == lang::Base::Prompt;
    trace += fmt::format("{} = {}\n", key.text, prompt ? prompts.front() : lang::show(reads[i], key.type));
  }
  std::set<std::int32_t> shown;
  for (const lang::Node& node : handler.nodes) {
    if (node.op != lang::Op::Parameter || !shown.insert(node.index).second) continue;
    const lang::Parameter& parameter = program.parameters[static_cast<std::size_t>(node.index)];
    const Cell& value = parameters[static_cast<std::size_t>(node.index)];
    trace += fmt::format("{} = {}\n", parameter.name, lang::show(value, parameter.type));
  }
  return trace;
}

std::string answered_by(const Verdict& verdict) {
  return verdict.rule < 0 ? "no rule held\n" : fmt::format("{}: {}\n", verdict.where, describe(verdict));
}

std::optional<Error> differ(const lang::Program& program, const lang::Handler& handler, const Answer& answer,
                            const Verdict& verdict, const Answer& other, const std::vector<std::string>& prompts) {
  const Verdict native = resolve(program, handler, other, prompts);
  const bool same = answer.holes() == other.holes() && answer.outcome.rule == other.outcome.rule &&
                    answer.outcome.fault == other.outcome.fault && describe(verdict) == describe(native) &&
                    verdict.subset == native.subset && verdict.stopped == native.stopped && same_answer(verdict, native);
  if (same) return std::nullopt;
  return Error{fmt::format("the machine code answers `{}` where the evaluator answers `{}`", describe(native),
                           describe(verdict)), "this is a mistake of allot: please report it with the policy"};
}

std::optional<Error> fault(const lang::Program& program, const lang::Handler& handler, const Answer& answer, bool of_condition) {
  if (answer.outcome.fault == compiler::FaultKind::None) return std::nullopt;
  if (of_condition) return Error{fmt::format("fault: {}", engine::words(answer.outcome.fault)), ""};
  return Error{fmt::format("fault at {}: {}", engine::place_of(program, handler, answer.outcome.fault_node),
                           engine::words(answer.outcome.fault)), ""};
}

}  // namespace allot::trial
