#include "runtime/engine/verdict.h"

#include <algorithm>

#include <fmt/format.h>

namespace allot::engine {

using lang::Cell;
using lang::GroupField;
using lang::RolloutsField;
using lang::SlotField;

std::int64_t Verdict::amount(std::size_t prompt) const {
  if (amounts.empty()) return 0;
  return amounts.size() == 1 ? amounts.front() : amounts[std::min(prompt, amounts.size() - 1)];
}

std::optional<std::int64_t> Verdict::up_to(std::size_t prompt) const {
  if (up_tos.empty()) return std::nullopt;
  return up_tos.size() == 1 ? up_tos.front() : up_tos[std::min(prompt, up_tos.size() - 1)];
}

namespace {

bool is_vector(const lang::Handler& handler, lang::NodeId node) {
  return node >= 0 && handler.nodes[static_cast<std::size_t>(node)].type.vector();
}

std::vector<std::int64_t> operand(const lang::Handler& handler, lang::NodeId node, const Cell& cell,
                                  const compiler::Column& column) {
  std::vector<std::int64_t> values;
  if (node < 0) return values;
  if (is_vector(handler, node)) {
    for (std::int64_t i = 0; i < column.size; ++i) {
      values.push_back(column.cells[i].defined ? column.cells[i].integer() : 0);
    }
  } else if (cell.defined) {
    values.push_back(cell.integer());
  }
  return values;
}

std::vector<int> mask_members(const compiler::Column& mask) {
  std::vector<int> members;
  for (std::int64_t i = 0; i < mask.size; ++i) {
    if (mask.cells[i].defined && mask.cells[i].truth()) members.push_back(static_cast<int>(i));
  }
  return members;
}

std::vector<int> subset_members(const lang::Handler& handler, lang::NodeId node, const compiler::Column& subset) {
  if (handler.nodes[static_cast<std::size_t>(node)].type.base == lang::Base::Bool) return mask_members(subset);
  std::vector<int> members;
  for (std::int64_t i = 0; i < subset.size; ++i) {
    if (subset.cells[i].defined) members.push_back(static_cast<int>(subset.cells[i].integer()));
  }
  std::sort(members.begin(), members.end());
  members.erase(std::unique(members.begin(), members.end()), members.end());
  return members;
}

using Reals = std::vector<std::optional<double>>;

Reals reals(const compiler::Column& column) {
  Reals values;
  for (std::int64_t i = 0; i < column.size; ++i) {
    const Cell& cell = column.cells[i];
    values.push_back(cell.defined ? std::optional(cell.real()) : std::nullopt);
  }
  return values;
}

// The operands of the points beside the four fields of a verdict.
void resolve_answer(Verdict& verdict, const lang::Handler& handler, const lang::VerdictTemplate& form,
                    const compiler::Outcome& outcome) {
  verdict.take = form.take;
  verdict.prompt = form.prompt;
  verdict.readmits = form.readmits;
  if (form.mask >= 0) {
    std::vector<int>& chosen = form.take == lang::Take::Where ? verdict.taken
                               : form.rollouts == RolloutsField::StopWhere ? verdict.stopped : verdict.evicted;
    chosen = mask_members(outcome.mask);
  }
  if (form.readmitted >= 0) verdict.readmitted = mask_members(outcome.readmitted);
  if (form.age_limit >= 0 && outcome.age_limit.defined) verdict.age_limit = outcome.age_limit.integer();
  verdict.untils = operand(handler, form.until, outcome.until, outcome.untils);
  if (is_vector(handler, form.until)) {
    std::vector<std::int64_t> of_evicted;
    for (const int position : verdict.evicted) of_evicted.push_back(verdict.untils.at(static_cast<std::size_t>(position)));
    verdict.untils = std::move(of_evicted);
  }
  if (form.scores >= 0) verdict.scores = reals(outcome.scores);
  if (form.reward >= 0 && outcome.reward.defined) verdict.reward = outcome.reward.real();
  if (form.loss >= 0 && outcome.loss.defined) verdict.loss = outcome.loss.real();
  if (form.slope >= 0 && outcome.slope.defined) verdict.slope = outcome.slope.real();
  if (form.advantages >= 0) {
    verdict.advantages = reals(outcome.advantages);
    verdict.by_turn = handler.nodes[static_cast<std::size_t>(form.advantages)].type.scope == lang::Scope::AllTurns;
  }
  if (form.weights >= 0) verdict.weights = reals(outcome.weights);
  if (form.baseline < 0) return;
  verdict.baselines = is_vector(handler, form.baseline) ? reals(outcome.baselines) : Reals{};
  if (!is_vector(handler, form.baseline) && outcome.baseline.defined) {
    verdict.baselines->emplace_back(outcome.baseline.real());
  }
}

std::string show_hole(const lang::Handler& handler, lang::NodeId node, const Cell& cell,
                      const std::vector<std::string>& prompts) {
  const lang::Type& type = handler.nodes[static_cast<std::size_t>(node)].type;
  if (type.base == lang::Base::Prompt && cell.defined) {
    const auto position = static_cast<std::size_t>(cell.integer());
    return position < prompts.size() ? prompts[position] : "?";
  }
  return lang::show(cell, type);
}

std::vector<std::optional<std::string>> prompt_names(const lang::Rule& rule, const lang::Handler& handler,
                                                     const std::vector<Cell>& holes, const std::vector<std::string>& prompts) {
  std::vector<std::optional<std::string>> names;
  for (const lang::MessagePart& part : rule.because) {
    if (part.hole < 0) continue;
    const std::size_t hole = names.size();
    const bool known = handler.nodes[static_cast<std::size_t>(part.hole)].type.base == lang::Base::Prompt && hole < holes.size() &&
                       holes[hole].defined;
    names.push_back(known ? std::optional(show_hole(handler, part.hole, holes[hole], prompts)) : std::nullopt);
  }
  const bool any = std::any_of(names.begin(), names.end(), [](const auto& name) { return name.has_value(); });
  return any ? names : std::vector<std::optional<std::string>>();
}

}  // namespace

std::string render(const std::vector<lang::MessagePart>& parts, const lang::Handler& handler,
                   const std::vector<Cell>& holes, const std::vector<std::string>& prompts) {
  std::string text;
  std::size_t hole = 0;
  for (const lang::MessagePart& part : parts) {
    if (part.hole < 0) {
      text += part.text;
      continue;
    }
    const Cell value = hole < holes.size() ? holes[hole] : Cell::undefined();
    text += show_hole(handler, part.hole, value, prompts);
    ++hole;
  }
  return text;
}

std::string place_of(const lang::Program& program, lang::Span span) {
  return program.source ? program.source->where(span.begin) : program.name;
}

std::string place_of(const lang::Program& program, const lang::Rule& rule) {
  if (!program.source) return program.name + ":" + std::to_string(rule.line);
  if (rule.origins.empty()) return place_of(program, rule.span);
  std::string text;
  for (const lang::Span origin : rule.origins) text += (text.empty() ? "" : ", ") + place_of(program, origin);
  return text;
}

std::string place_of(const lang::Program& program, const lang::Handler& handler, std::int32_t node) {
  if (!program.source) return program.name;
  const bool known = node >= 0 && static_cast<std::size_t>(node) < handler.nodes.size();
  const lang::Span span = known ? handler.nodes[static_cast<std::size_t>(node)].span : handler.span;
  return place_of(program, span);
}

Verdict resolve(const lang::Program& program, const lang::Handler& handler, const Answer& answer,
                const std::vector<std::string>& prompts) {
  Verdict verdict;
  const compiler::Outcome& outcome = answer.outcome;
  for (std::int64_t i = 0; i < outcome.keys.size; ++i) verdict.keys.push_back(outcome.keys.cells[i].real());
  if (outcome.rule < 0 || static_cast<std::size_t>(outcome.rule) >= handler.rules.size()) return verdict;
  const lang::Rule& rule = handler.rules[static_cast<std::size_t>(outcome.rule)];
  const lang::VerdictTemplate& form = rule.verdict;
  verdict.rule = outcome.rule;
  verdict.point = handler.point;
  verdict.where = place_of(program, rule);
  verdict.start = handler.point == lang::Point::Size;
  verdict.rollouts = verdict.start ? RolloutsField::Default : form.rollouts;
  verdict.amounts = operand(handler, form.amount, outcome.amount, outcome.amounts);
  verdict.up_tos = operand(handler, form.up_to, outcome.up_to, outcome.up_tos);
  resolve_answer(verdict, handler, form, outcome);
  verdict.group = form.group;
  if (form.subset >= 0) verdict.subset = subset_members(handler, form.subset, outcome.subset);
  verdict.normalize = form.normalize;
  verdict.slot = form.slot;
  if (rule.because.empty()) return verdict;
  verdict.reason = render(rule.because, handler, answer.holes(), prompts);
  verdict.names = prompt_names(rule, handler, answer.holes(), prompts);
  return verdict;
}

namespace {

void add(std::string& text, std::string_view word) {
  if (!text.empty()) text += ", ";
  text += word;
}

std::string rollouts_words(RolloutsField field, const std::string& amount) {
  switch (field) {
    case RolloutsField::Continue: return "continue";
    case RolloutsField::Stop: return "stop";
    case RolloutsField::StopWhere: return "stop where";
    case RolloutsField::SampleMore: return "sample " + amount + "more";
    case RolloutsField::CompleteTo: return "complete to " + amount;
    case RolloutsField::Branch: return "branch " + amount;
    case RolloutsField::Default: break;
  }
  return "";
}

std::string group_words(GroupField group, const std::optional<std::int64_t>& age_limit) {
  if (group == GroupField::Drop) return "drop";
  if (group == GroupField::Train) return "train";
  return age_limit ? fmt::format("defer at most {} iterations", *age_limit) : "defer";
}

std::string prompt_words(lang::PromptField prompt, const std::string& where, const std::string& until) {
  if (prompt == lang::PromptField::Readmit) return "readmit";
  if (prompt == lang::PromptField::EvictForGood) return "evict" + where + " for good";
  return "evict" + where + (until.empty() ? "" : " until " + until);
}

std::string field_words(RolloutsField rollouts, const std::string& amount, GroupField group, SlotField slot,
                        const std::optional<std::int64_t>& age_limit = {}) {
  std::string text;
  if (std::string words = rollouts_words(rollouts, amount); !words.empty()) {
    while (words.back() == ' ') words.pop_back();
    add(text, words);
  }
  if (group != GroupField::Default) add(text, group_words(group, age_limit));
  if (slot != SlotField::Default) add(text, slot == SlotField::Refill ? "refill" : "leave");
  return text;
}

std::string list_words(const std::vector<std::int64_t>& counts) {
  if (counts.size() == 1) return std::to_string(counts.front());
  std::string text;
  for (const std::int64_t count : counts) add(text, std::to_string(count));
  text.insert(text.begin(), '[');
  text.push_back(']');
  return text;
}

}  // namespace

namespace {

std::string real_words(const std::vector<std::optional<double>>& values, bool list) {
  std::string text;
  for (const std::optional<double>& value : values) add(text, value ? fmt::format("{:.12g}", *value) : "undefined");
  return list ? "[" + text + "]" : text;
}

std::string position_words(const std::vector<int>& positions) {
  std::string text;
  for (const int position : positions) add(text, std::to_string(position));
  return "[" + text + "]";
}

// What is answered beside rollouts, group and slot.
void add_answer(std::string& text, const Verdict& verdict, lang::Point point) {
  if (verdict.take == lang::Take::Where) add(text, "take where");
  const bool ranked = verdict.take == lang::Take::Best || verdict.take == lang::Take::Weighted;
  const std::string by = verdict.take == lang::Take::Weighted ? " by weight " : " by ";
  if (verdict.take == lang::Take::First) add(text, fmt::format("take {}", verdict.amount()));
  if (ranked) add(text, fmt::format("take {}{}{}", verdict.amount(), by, real_words(verdict.scores, true)));
  if (point == lang::Point::Replay) {
    add(text, fmt::format("replay up to {} by {}, max_age {}", verdict.amount(), real_words(verdict.scores, true),
                          verdict.age_limit.value_or(0)));
  }
  if (verdict.reward) add(text, fmt::format("set reward = {:.12g}", *verdict.reward));
  if (verdict.loss) add(text, fmt::format("set loss = {:.12g}", *verdict.loss));
  if (verdict.slope) add(text, fmt::format("set slope = {:.12g}", *verdict.slope));
  if (verdict.advantages) add(text, "set advantages = " + real_words(*verdict.advantages, true));
  if (verdict.weights) add(text, "set weights = " + real_words(*verdict.weights, true));
  if (verdict.baselines) add(text, "set baseline = " + real_words(*verdict.baselines, verdict.baselines->size() != 1));
  if (verdict.prompt != lang::PromptField::Default) {
    const bool pool = point == lang::Point::Epoch;
    const std::string until = verdict.untils.empty() ? "" : list_words(verdict.untils);
    add(text, prompt_words(verdict.prompt, pool ? " where " + position_words(verdict.evicted) : "", until));
  }
  if (verdict.readmits) add(text, "readmit where " + position_words(verdict.readmitted));
}

}  // namespace

std::string words(const Verdict& verdict) {
  if (verdict.start) {
    std::string text = fmt::format("start {} each", list_words(verdict.amounts));
    return verdict.up_tos.empty() ? text : fmt::format("{}, up to {}", text, list_words(verdict.up_tos));
  }
  const std::string amount = verdict.amounts.size() == 1 ? std::to_string(verdict.amounts.front()) + " " : "";
  const bool several = verdict.amounts.size() > 1 && verdict.rollouts != RolloutsField::Default;
  std::string text = field_words(verdict.rollouts, several ? list_words(verdict.amounts) + " " : amount, verdict.group,
                                 verdict.slot, verdict.age_limit);
  add_answer(text, verdict, verdict.point);
  return text.empty() ? "default" : text;
}

std::string words(const lang::VerdictTemplate& verdict, lang::Point point) {
  if (point == lang::Point::Size) return "start each";
  std::string text = field_words(verdict.rollouts, "", verdict.group, verdict.slot);
  if (verdict.take == lang::Take::Where) add(text, "take where");
  if (verdict.take != lang::Take::None && verdict.take != lang::Take::Where) add(text, "take");
  if (point == lang::Point::Replay) add(text, "replay");
  for (const auto& [node, target] : {std::pair(verdict.reward, "reward"), std::pair(verdict.loss, "loss"), std::pair(verdict.advantages, "advantages"),
                                     std::pair(verdict.weights, "weights"), std::pair(verdict.baseline, "baseline")}) {
    if (node >= 0) add(text, fmt::format("set {}", target));
  }
  if (verdict.prompt != lang::PromptField::Default) {
    add(text, prompt_words(verdict.prompt, point == lang::Point::Epoch ? " where" : "", ""));
  }
  if (verdict.readmits) add(text, "readmit where");
  return text.empty() ? "default" : text;
}

std::string_view words(compiler::FaultKind fault) {
  using compiler::FaultKind;
  switch (fault) {
    case FaultKind::IntegerOverflow: return "integer overflow";
    case FaultKind::DivisionByZero: return "division by zero";
    case FaultKind::NotFinite: return "a value that is not finite";
    case FaultKind::IndexOutOfRange: return "an index out of range";
    case FaultKind::Domain: return "an argument outside its domain";
    case FaultKind::OutOfMemory: return "out of memory";
    case FaultKind::None: break;
  }
  return "none";
}

}  // namespace allot::engine
