#include "runtime/trial/expected.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/trial/record.h"

namespace allot::trial {

using engine::Verdict;
using lang::GroupField;
using lang::Point;
using lang::RolloutsField;
using lang::SlotField;
using lang::tree::Action;
using lang::tree::ActionKind;
using lang::tree::ExprKind;

namespace {

struct Reader {
  const lang::Program& program;
  const std::vector<lang::Cell>& parameters;
  Allowance& allowance;

  Result<std::vector<std::int64_t>> counts(lang::tree::ExprId id) const {
    const lang::tree::Expr& expr = (*program.tree)[id];
    if (expr.kind == ExprKind::Name) return parameter(expr.text);
    auto value = literal(*program.tree, id, allowance);
    if (!value) return value.error();
    std::vector<std::int64_t> counts;
    for (const Value& item : value->kind == Value::Kind::List ? value->items : std::vector<Value>{*value}) {
      if (item.kind != Value::Kind::Int) return Error{"An expected count is a whole number or a parameter.", ""};
      counts.push_back(item.integer);
    }
    return counts;
  }

  Result<std::vector<std::int64_t>> parameter(const std::string& name) const {
    for (std::size_t i = 0; i < program.parameters.size(); ++i) {
      if (program.parameters[i].name == name) return std::vector<std::int64_t>{parameters[i].integer()};
    }
    return Error{"There is no parameter " + name + ".", ""};
  }

  // Samples, as a list of indices or as a mask.
  Result<std::vector<int>> samples(lang::tree::ExprId id, std::string_view word) const {
    auto value = literal(*program.tree, id, allowance);
    if (!value || value->kind != Value::Kind::List) {
      return Error{fmt::format("The samples that are expected are written as a list: `{} [1]`.", word),
                   "`[]` expects none"};
    }
    std::vector<int> samples;
    for (std::size_t i = 0; i < value->items.size(); ++i) {
      const Value& item = value->items[i];
      if (item.kind == Value::Kind::Int) samples.push_back(static_cast<int>(item.integer));
      if (item.kind == Value::Kind::Bool && item.integer != 0) samples.push_back(static_cast<int>(i));
    }
    std::sort(samples.begin(), samples.end());
    return samples;
  }

  Result<void> count_field(Verdict& verdict, RolloutsField field, const Action& action) const {
    auto amounts = counts(action.amount);
    if (!amounts) return amounts.error();
    verdict.rollouts = field;
    verdict.amounts = *std::move(amounts);
    if (action.second < 0) return {};
    auto up_tos = counts(action.second);
    if (!up_tos) return up_tos.error();
    verdict.up_tos = *std::move(up_tos);
    return {};
  }

  Result<void> stop_where(Verdict& verdict, const Action& action) const {
    auto stopped = samples(action.amount, "stop where");
    if (!stopped) return stopped.error();
    verdict.rollouts = RolloutsField::StopWhere;
    verdict.stopped = *std::move(stopped);
    return {};
  }

  Result<void> train(Verdict& verdict, const Action& action) const {
    verdict.group = GroupField::Train;
    if (action.target == "group") verdict.normalize = lang::Normalize::Group;
    if (action.target == "subset") verdict.normalize = lang::Normalize::Subset;
    if (action.amount < 0) return {};
    auto subset = samples(action.amount, "train");
    if (!subset) return subset.error();
    verdict.subset = *std::move(subset);
    return {};
  }

  Result<void> read(Verdict& verdict, const Action& action) const {
    switch (action.kind) {
      case ActionKind::Continue: verdict.rollouts = RolloutsField::Continue; return {};
      case ActionKind::Stop: verdict.rollouts = RolloutsField::Stop; return {};
      case ActionKind::StopWhere: return stop_where(verdict, action);
      case ActionKind::SampleMore: return count_field(verdict, RolloutsField::SampleMore, action);
      case ActionKind::CompleteTo: return count_field(verdict, RolloutsField::CompleteTo, action);
      case ActionKind::Start:
        verdict.start = true;
        return count_field(verdict, RolloutsField::Default, action);
      case ActionKind::Train: return train(verdict, action);
      case ActionKind::Drop: verdict.group = GroupField::Drop; return {};
      case ActionKind::Refill: verdict.slot = SlotField::Refill; return {};
      case ActionKind::Leave: verdict.slot = SlotField::Leave; return {};
      default: return Error{"This verdict cannot be tested yet.", ""};
    }
  }
};

// Fields that say the default are the default.
Verdict plain(Verdict verdict, Point point) {
  const bool while_running = point == Point::Turn || point == Point::Result;
  if (while_running && verdict.rollouts == RolloutsField::Continue) verdict.rollouts = RolloutsField::Default;
  if (verdict.group == GroupField::Train && !verdict.subset && verdict.normalize != lang::Normalize::Group) {
    verdict.group = GroupField::Default;
  }
  if (verdict.slot == SlotField::Leave) verdict.slot = SlotField::Default;
  if (verdict.normalize == lang::Normalize::Subset) verdict.normalize = lang::Normalize::Default;
  return verdict;
}

}  // namespace

Result<Expected> read_expected(const lang::Program& program, const std::vector<lang::Cell>& parameters,
                               const lang::tree::Verdict& verdict) {
  Allowance allowance;
  const Reader reader{program, parameters, allowance};
  Expected expected;
  for (const Action& action : verdict.actions) {
    auto read = reader.read(expected.verdict, action);
    if (!read) return read.error();
  }
  if (verdict.because < 0) return expected;
  auto reason = literal(*program.tree, verdict.because, allowance);
  if (!reason || reason->kind != Value::Kind::String) return Error{"An expected reason is a plain string.", ""};
  expected.with_reason = true;
  expected.verdict.reason = reason->text;
  return expected;
}

bool matches(const Expected& expected, const Verdict& got, Point point) {
  const Verdict a = plain(expected.verdict, point);
  const Verdict b = plain(got, point);
  return a.rollouts == b.rollouts && a.start == b.start && a.amounts == b.amounts &&
         a.up_tos == b.up_tos && a.stopped == b.stopped && a.group == b.group && a.subset == b.subset && a.normalize == b.normalize && a.slot == b.slot &&
         (!expected.with_reason || a.reason == b.reason);
}

namespace {

// `samples` after the first `word` of the text.
void put_after(std::string& text, std::string_view word, const std::vector<int>& samples) {
  const std::size_t at = text.find(word);
  if (at != std::string::npos) text.insert(at + word.size(), fmt::format(" [{}]", fmt::join(samples, ", ")));
}

}  // namespace

std::string describe_actions(const Verdict& verdict) {
  std::string text = engine::words(verdict);
  if (verdict.rollouts == RolloutsField::StopWhere) put_after(text, "stop where", verdict.stopped);
  if (verdict.group != GroupField::Train) return text;
  std::string train = "train";
  if (verdict.subset) put_after(train, "train", *verdict.subset);
  if (verdict.normalize == lang::Normalize::Group) train += ", normalize over group";
  if (verdict.normalize == lang::Normalize::Subset) train += ", normalize over subset";
  if (const std::size_t at = text.find("train"); at != std::string::npos) text.replace(at, 5, train);
  return text;
}

std::string describe(const Verdict& verdict) {
  const std::string because = verdict.reason.empty() ? "" : " because \"" + verdict.reason + "\"";
  return describe_actions(verdict) + because;
}

}  // namespace allot::trial
