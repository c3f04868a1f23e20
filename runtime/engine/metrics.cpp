// The metrics of one iteration. The set of names follows from the program alone: what did not happen is 0, so that no
// name depends on which rule answered.
#include <algorithm>
#include <filesystem>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "runtime/engine/live_engine.h"
#include "runtime/engine/swap_record.h"
#include "runtime/math/sum.h"

namespace allot::engine {
namespace {

using Metrics = std::map<std::string, double>;

void add_tallies(Metrics& metrics, const Tallies& tallies) {
  const auto put = [&](const char* name, std::int64_t value) { metrics[name] = static_cast<double>(value); };
  put("rollouts/started", tallies.rollouts);
  put("rollouts/completed", tallies.completed);
  put("rollouts/truncated", tallies.truncated);
  put("rollouts/stopped", tallies.stopped);
  put("rollouts/aborted", tallies.aborted);
  put("rollouts/timeout", tallies.timeouts);
  put("rollouts/error", tallies.errors);
  put("rollouts/unscored", tallies.unscored);
  put("rollouts/nonfinite", tallies.nonfinite);
  put("turns", tallies.turns);
  put("tokens", tallies.tokens);
  put("calls", tallies.calls);
  put("waves", tallies.waves);
  put("events/late", tallies.late);
  put("events/duplicate", tallies.duplicate);
  put("events/unknown", tallies.unknown);
  put("verdicts/clamped", tallies.clamped);
  put("verdicts/left_out", tallies.left_out);
  put("budget/starts_cut", tallies.starts_cut);
  put("budget/stopped", tallies.budget_stops);
  put("groups/deferred", tallies.deferred);
  put("groups/resumed", tallies.resumed);
  put("groups/expired", tallies.expired);
  put("groups/surplus", tallies.surplus);
  put("groups/replayed", tallies.replayed);
  put("loss/tokens", tallies.loss_tokens);
  put("loss/faults", tallies.loss_faults);
  put("pool/evicted", tallies.evicted);
  put("pool/readmitted", tallies.readmitted);
  put("points/without_handler", tallies.points_without_handler);
}

// Mean reward of each group that has one, in order of slot and round.
std::vector<double> group_means(const std::vector<const LiveGroup*>& groups) {
  std::vector<double> means;
  for (const LiveGroup* group : groups) {
    if (const auto mean = math::mean(group->log.scored_rewards())) means.push_back(*mean);
  }
  return means;
}

void add_gate(Metrics& metrics, const std::vector<const LiveGroup*>& groups) {
  for (const char* name : {"asked", "stop", "late", "carried_out"}) metrics[fmt::format("gate/{}", name)] = 0;
  for (const LiveGroup* group : groups) {
    metrics["gate/asked"] += group->gate.asked;
    metrics["gate/stop"] += group->gate.stop;
    metrics["gate/late"] += group->gate.stop && group->gate.late;
    metrics["gate/carried_out"] += group->gate.carried_out;
  }
}

void add_groups(Metrics& metrics, const std::vector<const LiveGroup*>& all, const std::vector<int>& trained) {
  const std::set<int> is_trained(trained.begin(), trained.end());
  std::vector<const LiveGroup*> kept;
  double kept_tokens = 0, tokens = 0, dropped = 0, flat = 0;
  for (const LiveGroup* group : all) {
    const auto spent = static_cast<double>(group->log.counts().tokens);
    tokens += spent;
    dropped += group->fate == Fate::Dropped;
    flat += group->flat;
    if (!is_trained.contains(group->log.group)) continue;
    kept.push_back(group);
    for (const int sample : group->trained) {
      kept_tokens += static_cast<double>(group->log.rollouts[static_cast<std::size_t>(sample)].tokens);
    }
  }
  const auto share = [&](double part) { return all.empty() ? 0.0 : part / static_cast<double>(all.size()); };
  metrics["groups/opened"] = static_cast<double>(all.size());
  metrics["groups/trained"] = static_cast<double>(kept.size());
  metrics["groups/dropped"] = dropped;
  metrics["groups/flat"] = flat;
  metrics["groups/acceptance"] = share(static_cast<double>(kept.size()));
  // Two curves, never one: what was generated, and what survived (faults.md 34).
  metrics["reward/all"] = math::mean(group_means(all)).value_or(0);
  metrics["reward/trained"] = math::mean(group_means(kept)).value_or(0);
  // A dropped token is in no numerator and no denominator (faults.md 11).
  metrics["tokens/effective"] = kept_tokens;
  metrics["tokens/dead"] = tokens - kept_tokens;
}

// "rule/12"; of a policy of several files "rule/sara:12".
std::string rule_name(const lang::Program& program, const lang::Rule& rule) {
  if (!program.source || program.source->file_count() == 1) return fmt::format("rule/{}", rule.line);
  std::string name;
  for (const lang::Span span : rule.origins.empty() ? std::vector<lang::Span>{rule.span} : rule.origins) {
    const std::filesystem::path file(program.source->name(span.begin));
    name += fmt::format("{}{}:{}", name.empty() ? "rule/" : "+", file.stem().string(),
                        program.source->place(span.begin).line);
  }
  return name;
}

// `prefix` stands before the names of a version that is not the batch's.
void add_policy(Metrics& metrics, const std::string& prefix, const lang::Program& program, const JudgeCounts& counts, Zeros zeros) {
  const auto told = [&](std::int64_t count) { return count != 0 || zeros == Zeros::Told; };
  for (std::size_t h = 0; h < program.handlers.size(); ++h) {
    const std::vector<lang::Rule>& rules = program.handlers[h].rules;
    for (std::size_t r = 0; r < rules.size(); ++r) {
      if (told(counts.rules[h][r])) metrics[prefix + rule_name(program, rules[r])] += static_cast<double>(counts.rules[h][r]);
    }
  }
  for (std::size_t w = 0; w < program.warnings.size(); ++w) {
    if (told(counts.warned[w])) metrics[prefix + "policy/" + program.warnings[w]] += static_cast<double>(counts.warned[w]);
  }
}

// Several values of one report in an iteration are averaged, in an order that arrival does not change.
void add_reports(Metrics& metrics, const std::string& prefix, const lang::Program& program,
                 std::vector<ReportValue> values) {
  std::stable_sort(values.begin(), values.end(), [](const ReportValue& a, const ReportValue& b) {
    return std::tuple(a.report, a.slot, a.round, a.turn) < std::tuple(b.report, b.slot, b.round, b.turn);
  });
  for (std::size_t i = 0; i < program.reports.size(); ++i) {
    std::vector<double> written;
    for (const ReportValue& value : values) {
      if (value.report == static_cast<int>(i)) written.push_back(value.value);
    }
    metrics[prefix + "report/" + program.reports[i]] = math::mean(written).value_or(0);
  }
}

void add_ledger(Metrics& metrics, const Ledger& ledger) {
  for (const Account& account : ledger.accounts()) {
    const char* const period = account.per_run ? "run" : "iteration";
    const std::string name = fmt::format("budget/{}/{}/", lang::name(account.unit), period);
    metrics[name + "total"] = account.total;
    metrics[name + "spent"] = account.spent;
    metrics[name + "left"] = account.left();
  }
  metrics["budget/overruns"] = static_cast<double>(ledger.overruns());
}

void add_trust(Metrics& metrics, const Trust& trust, const Tallies& tallies) {
  const Interval interval = wilson(trust.flat(), trust.observed());
  metrics["holdout/groups"] = static_cast<double>(tallies.held_out);
  metrics["holdout/observed"] = static_cast<double>(trust.observed());
  metrics["holdout/precision"] = trust.precision().value_or(0);
  metrics["holdout/precision_low"] = trust.observed() > 0 ? interval.low : 0;
  metrics["holdout/precision_high"] = trust.observed() > 0 ? interval.high : 0;
  metrics["policy/paused"] = trust.paused();
}

// The decisions of all versions together, and of each.
void add_versions(Metrics& metrics, const std::vector<Version*>& versions, const Version& batch, const Metrics& retired) {
  metrics.insert(retired.begin(), retired.end());
  for (const Version* const version : versions) add_version_metrics(metrics, *version, Zeros::Told);
  metrics["policy/version"] = batch.number;
  const std::string own = fmt::format("version/{}/", batch.number);
  Metrics plain;
  double decisions = 0, faults = 0;
  std::erase_if(metrics, [&](const auto& each) {
    const auto& [name, value] = each;
    if (!name.starts_with("version/")) return false;
    if (name.ends_with("/decisions")) decisions += value;
    if (name.ends_with("/faults")) faults += value;
    // The batch's own names stand without a prefix, as in a run that was never swapped.
    if (!name.starts_with(own) || name == own + "decisions" || name == own + "faults") return false;
    plain[name.substr(own.size())] = value;
    return true;
  });
  metrics.merge(plain);
  metrics["policy/decisions"] = decisions;
  metrics["policy/faults"] = faults;
}

}  // namespace

void add_version_metrics(Metrics& metrics, const Version& version, Zeros zeros) {
  const std::string prefix = fmt::format("version/{}/", version.number);
  const JudgeCounts counts = version.counts();
  metrics[prefix + "decisions"] += static_cast<double>(counts.decisions());
  metrics[prefix + "faults"] += static_cast<double>(counts.faults + counts.hit_faults);
  add_policy(metrics, prefix, version.program(), counts, zeros);
  add_reports(metrics, prefix, version.program(), counts.reports);
}

std::map<std::string, double> LiveEngine::metrics(const IterationReport& report) const {
  Metrics metrics;
  const std::vector<const LiveGroup*> groups = in_order();
  add_tallies(metrics, tallies_);
  add_gate(metrics, groups);
  add_groups(metrics, groups, report.trained);
  metrics["groups/waiting"] = static_cast<double>(run_facts().pool_due);
  metrics["pool/epoch"] = pool_.epoch();
  metrics["pool/away"] = static_cast<double>(pool_.away_count());
  metrics["batch/rounds"] = report.rounds;
  metrics["batch/open_slots"] = batch_.open_slots();
  metrics["batch/skip_update"] = report.skip_update;
  if (judge_) {
    add_versions(metrics, versions_in_use(), *version_, counts_left());
    add_trust(metrics, trust_, tallies_);
  }
  add_ledger(metrics, ledger_);
  return metrics;
}

}  // namespace allot::engine
