#include "runtime/trial/expected.h"

#include <algorithm>
#include <cmath>

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

  // Numbers, of which some may be undefined: a list, or one.
  Result<std::vector<std::optional<double>>> reals(lang::tree::ExprId id) const {
    auto value = literal(*program.tree, id, allowance);
    if (!value) return value.error();
    std::vector<std::optional<double>> reals;
    for (const Value& item : value->kind == Value::Kind::List ? value->items : std::vector<Value>{*value}) {
      const bool number = item.kind == Value::Kind::Int || item.kind == Value::Kind::Real;
      if (!number && item.kind != Value::Kind::Undefined) return Error{"An expected value is a number or `undefined`.", ""};
      reals.push_back(number ? std::optional(item.cell(lang::Base::Real).real()) : std::nullopt);
    }
    return reals;
  }

  Result<std::int64_t> one_count(lang::tree::ExprId id) const {
    auto found = counts(id);
    if (!found) return found.error();
    if (found->size() != 1) return Error{"One whole number is expected here.", ""};
    return found->front();
  }

  Result<void> evict(Verdict& verdict, const Action& action) const {
    verdict.prompt = action.target.empty() ? lang::PromptField::Evict : lang::PromptField::EvictForGood;
    if (action.third >= 0) {
      auto evicted = samples(action.third, "evict where");
      if (!evicted) return evicted.error();
      verdict.evicted = *std::move(evicted);
    }
    if (action.amount < 0) return {};
    auto until = counts(action.amount);
    if (!until) return until.error();
    verdict.untils = *std::move(until);
    // `until 3` of several prompts is 3 for each of them.
    if (action.third >= 0 && verdict.untils.size() == 1) verdict.untils.resize(verdict.evicted.size(), verdict.untils[0]);
    return {};
  }

  Result<void> readmit(Verdict& verdict, const Action& action) const {
    if (action.third < 0) {
      verdict.prompt = lang::PromptField::Readmit;
      return {};
    }
    auto readmitted = samples(action.third, "readmit where");
    if (!readmitted) return readmitted.error();
    verdict.readmits = true;
    verdict.readmitted = *std::move(readmitted);
    return {};
  }

  Result<void> take(Verdict& verdict, const Action& action) const {
    if (action.target == "where") {
      auto taken = samples(action.amount, "take where");
      if (!taken) return taken.error();
      verdict.take = lang::Take::Where;
      verdict.taken = *std::move(taken);
      return {};
    }
    verdict.take = action.second < 0                ? lang::Take::First
                   : action.target == "by weight" ? lang::Take::Weighted
                                                    : lang::Take::Best;
    return ranked(verdict, action);
  }

  // `N by [SCORES]`
  Result<void> ranked(Verdict& verdict, const Action& action) const {
    auto amounts = counts(action.amount);
    if (!amounts) return amounts.error();
    verdict.amounts = *std::move(amounts);
    if (action.second < 0) return {};
    auto scores = reals(action.second);
    if (!scores) return scores.error();
    verdict.scores = *std::move(scores);
    return {};
  }

  Result<void> replay(Verdict& verdict, const Action& action) const {
    if (action.third >= 0) {
      auto age = one_count(action.third);
      if (!age) return age.error();
      verdict.age_limit = *age;
    }
    return ranked(verdict, action);
  }

  Result<void> defer(Verdict& verdict, const Action& action) const {
    auto age = one_count(action.amount);
    if (!age) return age.error();
    verdict.group = GroupField::Defer;
    verdict.age_limit = *age;
    return {};
  }

  Result<void> set(Verdict& verdict, const Action& action) const {
    auto values = reals(action.amount);
    if (!values) return values.error();
    if (action.target == "reward") verdict.reward = values->front();
    if (action.target == "loss") verdict.loss = values->front();
    if (action.target == "slope") verdict.slope = values->front();
    if (action.target == "advantages") verdict.advantages = *std::move(values);
    if (action.target == "weights") verdict.weights = *std::move(values);
    if (action.target == "baseline") verdict.baselines = *std::move(values);
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
      case ActionKind::Branch: return count_field(verdict, RolloutsField::Branch, action);
      case ActionKind::Defer: return defer(verdict, action);
      case ActionKind::Evict: return evict(verdict, action);
      case ActionKind::Readmit: return readmit(verdict, action);
      case ActionKind::Take: return take(verdict, action);
      case ActionKind::Set: return set(verdict, action);
      case ActionKind::Replay: return replay(verdict, action);
    }
    return {};
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
         same_answer(a, b) && (!expected.with_reason || a.reason == b.reason);
}

bool near(double a, double b) {
  constexpr double tolerance = 1e-9;
  return std::abs(a - b) <= tolerance * std::max({1.0, std::abs(a), std::abs(b)});
}

namespace {

bool near(const std::optional<double>& a, const std::optional<double>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  return trial::near(*a, *b);
}

using Reals = std::vector<std::optional<double>>;

bool near(const Reals& a, const Reals& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                            [](const auto& x, const auto& y) { return near(x, y); });
}

bool near(const std::optional<Reals>& a, const std::optional<Reals>& b) {
  return a.has_value() == b.has_value() && (!a || near(*a, *b));
}

}  // namespace

bool same_answer(const Verdict& a, const Verdict& b) {
  return a.age_limit == b.age_limit && a.prompt == b.prompt && a.untils == b.untils && a.evicted == b.evicted &&
         a.readmits == b.readmits && a.readmitted == b.readmitted && a.take == b.take && a.taken == b.taken &&
         near(a.scores, b.scores) && near(a.reward, b.reward) && near(a.loss, b.loss) &&
         (!a.slope || near(a.slope, b.slope)) && near(a.advantages, b.advantages) &&
         near(a.weights, b.weights) && near(a.baselines, b.baselines);
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
  if (verdict.take == lang::Take::Where) put_after(text, "take where", verdict.taken);
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
