#include "runtime/training/run/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "runtime/engine/trust.h"
#include "runtime/training/run/intervals.h"

namespace allot::training {
namespace {

using Figure = std::function<std::optional<double>(const ArmTally&)>;

// Of the seeds in which it is defined.
std::vector<double> over_seeds(const std::vector<SeedResult>& seeds, std::size_t arm, const Figure& figure) {
  std::vector<double> values;
  for (const auto& seed : seeds) {
    if (const auto value = figure(seed.arms[arm])) values.push_back(*value);
  }
  return values;
}

// Share of the first arm's figure that `arm` saved, per seed.
std::vector<double> saved(const std::vector<SeedResult>& seeds, std::size_t arm, const Figure& figure) {
  std::vector<double> values;
  for (const auto& seed : seeds) {
    const double base = figure(seed.arms[0]).value_or(0);
    values.push_back(base > 0 ? 1 - figure(seed.arms[arm]).value_or(0) / base : 0);
  }
  return values;
}

// Held-out success of `arm` minus that of the first arm, one row of paired tasks per seed.
std::vector<std::vector<double>> success_differences(const std::vector<SeedResult>& seeds, std::size_t arm) {
  std::vector<std::vector<double>> rows;
  for (const auto& seed : seeds) {
    const auto& base = seed.arms[0].held_out;
    const auto& other = seed.arms[arm].held_out;
    std::vector<double> row;
    for (std::size_t i = 0; i < std::min(base.size(), other.size()); ++i) row.push_back(other[i] - base[i]);
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string cell(const std::vector<double>& values, const char* form, double scale) {
  if (values.empty()) return "undefined";
  const auto interval = bootstrap_mean(values);
  const std::string centre = fmt::format(fmt::runtime(form), interval.mean * scale);
  if (values.size() < 2) return centre;
  return fmt::format("{} [{}, {}]", centre, fmt::format(fmt::runtime(form), interval.low * scale),
                     fmt::format(fmt::runtime(form), interval.high * scale));
}

struct Row {
  std::string title;
  Figure figure;
  const char* form;
  double scale = 1;
  bool gate = false;  // says something only where an arm stops groups
};

std::vector<Row> rows() {
  return {
      {"seconds", [](const ArmTally& a) { return a.seconds; }, "{:.1f}"},
      {"  of them rolling out", [](const ArmTally& a) { return a.rollout_seconds; }, "{:.1f}"},
      {"rollouts", [](const ArmTally& a) { return static_cast<double>(a.rollouts); }, "{:.0f}"},
      {"turns", [](const ArmTally& a) { return static_cast<double>(a.turns); }, "{:.0f}"},
      {"tokens written", [](const ArmTally& a) { return static_cast<double>(a.tokens); }, "{:.0f}"},
      {"held-out success, %", [](const ArmTally& a) { return a.success(); }, "{:.1f}", 100},
      {"groups flat, %", [](const ArmTally& a) { return a.flat_share(); }, "{:.1f}", 100},
      {"  all fail", [](const ArmTally& a) { return static_cast<double>(a.all_fail); }, "{:.0f}"},
      {"  all succeed", [](const ArmTally& a) { return static_cast<double>(a.all_succeed); }, "{:.0f}"},
      {"iterations without update", [](const ArmTally& a) { return static_cast<double>(a.skipped); }, "{:.0f}"},
      {"groups stopped", [](const ArmTally& a) { return static_cast<double>(a.gate.stops); }, "{:.0f}", 1, true},
      {"  of them not flat", [](const ArmTally& a) { return static_cast<double>(a.gate.false_stops()); }, "{:.0f}", 1, true},
      {"found late, nothing saved", [](const ArmTally& a) { return static_cast<double>(a.gate.late); }, "{:.0f}", 1, true},
      {"precision, all, %", [](const ArmTally& a) { return a.gate.precision_all(); }, "{:.1f}", 100, true},
      {"precision, stoppable, %", [](const ArmTally& a) { return a.gate.precision_stoppable(); }, "{:.1f}", 100, true},
      {"recall, %", [](const ArmTally& a) { return a.gate.recall(); }, "{:.1f}", 100, true},
      {"policy and engine, % of time",
       [](const ArmTally& a) { return a.seconds > 0 ? a.engine_seconds / a.seconds : 0.0; }, "{:.3f}", 100},
  };
}

std::string grid(const std::vector<std::vector<std::string>>& lines) {
  std::vector<std::size_t> widths;
  for (const auto& line : lines) {
    widths.resize(std::max(widths.size(), line.size()));
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i)
      text += i == 0 ? fmt::format("{:<{}}", line[i], widths[i]) : fmt::format("  {:>{}}", line[i], widths[i]);
    text += '\n';
  }
  return text;
}

std::string comparison(const std::vector<SeedResult>& seeds, std::size_t arm) {
  const auto time = bootstrap_mean(saved(seeds, arm, [](const ArmTally& a) { return a.seconds; }));
  const auto tokens = bootstrap_mean(saved(seeds, arm, [](const ArmTally& a) { return static_cast<double>(a.tokens); }));
  const auto success = bootstrap_rows(success_differences(seeds, arm));
  const auto several = [&](const Interval& value, int digits) {
    return seeds.size() < 2 ? std::string{}
                            : fmt::format(" [{:.{}f}, {:.{}f}]", value.low * 100, digits, value.high * 100, digits);
  };
  return fmt::format("{}: {:.1f} %{} of the time and {:.1f} %{} of the tokens saved; held-out success {:+.1f} [{:+.1f}, {:+.1f}] points\n",
                     seeds[0].arms[arm].name, time.mean * 100, several(time, 1), tokens.mean * 100, several(tokens, 1),
                     success.mean * 100, success.low * 100, success.high * 100);
}

std::string reasons(const std::vector<SeedResult>& seeds, std::size_t arm) {
  std::map<std::string, int> counts;
  for (const auto& seed : seeds)
    for (const auto& [reason, count] : seed.arms[arm].gate.reasons) counts[reason] += count;
  std::string text;
  for (const auto& [reason, count] : counts)
    text += fmt::format("  {} stopped by {}: {}\n", count, seeds[0].arms[arm].name, reason);
  return text;
}

nlohmann::json interval_json(const Interval& value) { return {{"mean", value.mean}, {"low", value.low}, {"high", value.high}}; }

nlohmann::json number_json(const std::optional<double>& value) { return value ? nlohmann::json(*value) : nlohmann::json(); }

nlohmann::json gate_json(const std::vector<SeedResult>& seeds, std::size_t arm) {
  GateTally sum;
  for (const auto& seed : seeds) {
    const auto& gate = seed.arms[arm].gate;
    sum.groups += gate.groups;
    sum.flat += gate.flat;
    sum.stops += gate.stops;
    sum.flat_stops += gate.flat_stops;
    sum.late += gate.late;
    sum.flat_late += gate.flat_late;
    for (const auto& [reason, count] : gate.reasons) sum.reasons[reason] += count;
  }
  nlohmann::json false_stops;
  if (sum.stops > 0) {
    const auto bounds = engine::wilson(sum.false_stops(), sum.stops);
    false_stops = interval_json({static_cast<double>(sum.false_stops()) / sum.stops, bounds.low, bounds.high});
  }
  return {{"stops", sum.stops},
          {"flat_stops", sum.flat_stops},
          {"late", sum.late},
          {"flat_late", sum.flat_late},
          {"groups", sum.groups},
          {"flat", sum.flat},
          {"precision_all", number_json(sum.precision_all())},
          {"precision_stoppable", number_json(sum.precision_stoppable())},
          {"recall", number_json(sum.recall())},
          {"false_stop_share", false_stops},
          {"reasons", sum.reasons}};
}

nlohmann::json arm_json(const std::vector<SeedResult>& seeds, std::size_t arm) {
  const auto mean = [&](const Figure& figure) { return bootstrap_mean(over_seeds(seeds, arm, figure)).mean; };
  nlohmann::json json = {
      {"seconds", mean([](const ArmTally& a) { return a.seconds; })},
      {"rollout_seconds", mean([](const ArmTally& a) { return a.rollout_seconds; })},
      {"rollouts", mean([](const ArmTally& a) { return static_cast<double>(a.rollouts); })},
      {"turns", mean([](const ArmTally& a) { return static_cast<double>(a.turns); })},
      {"tokens", mean([](const ArmTally& a) { return static_cast<double>(a.tokens); })},
      {"success", mean([](const ArmTally& a) { return a.success(); })},
      {"flat_share", mean([](const ArmTally& a) { return a.flat_share(); })},
      {"all_fail", mean([](const ArmTally& a) { return static_cast<double>(a.all_fail); })},
      {"all_succeed", mean([](const ArmTally& a) { return static_cast<double>(a.all_succeed); })},
      {"skipped", mean([](const ArmTally& a) { return static_cast<double>(a.skipped); })},
      {"short_of_budget", mean([](const ArmTally& a) { return static_cast<double>(a.short_of_budget); })},
      {"errors", mean([](const ArmTally& a) { return static_cast<double>(a.errors); })},
      {"gate", gate_json(seeds, arm)}};
  if (arm > 0) {
    json["time_saved"] = interval_json(bootstrap_mean(saved(seeds, arm, [](const ArmTally& a) { return a.seconds; })));
    json["tokens_saved"] =
        interval_json(bootstrap_mean(saved(seeds, arm, [](const ArmTally& a) { return static_cast<double>(a.tokens); })));
    json["success_difference"] = interval_json(bootstrap_rows(success_differences(seeds, arm)));
  }
  return json;
}

// The figures alone do not show why.
std::string short_of_budget(const std::vector<SeedResult>& seeds, std::size_t arm) {
  std::int64_t iterations = 0;
  for (const auto& seed : seeds) iterations += seed.arms[arm].short_of_budget;
  if (iterations == 0) return "";
  return fmt::format("{}: in {} iterations the budget could not cover every rollout or turn; `allot log RUN --kind end` tells what was left.\n",
                     seeds[0].arms[arm].name, iterations);
}

std::string used_up_line(const SeedResult& seed, const ReportContext& context) {
  return fmt::format("the budget of the run is used up: {}; {} of {} iterations were played", seed.used_up, seed.iterations,
                     context.iterations);
}

nlohmann::json used_up_json(const std::vector<SeedResult>& seeds) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& seed : seeds)
    if (!seed.used_up.empty()) list.push_back({{"seed", seed.seed}, {"budget", seed.used_up}, {"iterations", seed.iterations}});
  return list;
}

}  // namespace

std::string report_text(const std::vector<SeedResult>& seeds, const ReportContext& context) {
  if (seeds.empty() || seeds[0].arms.empty()) return "nothing was run\n";
  const auto& arms = seeds[0].arms;
  std::vector<std::vector<std::string>> lines(1, {""});
  for (const auto& arm : arms) lines[0].push_back(arm.name == "policy" ? context.policy : arm.name);
  for (const auto& row : rows()) {
    std::vector<std::string> line{row.title};
    for (std::size_t arm = 0; arm < arms.size(); ++arm)
      line.push_back(row.gate && arm == 0 ? "" : cell(over_seeds(seeds, arm, row.figure), row.form, row.scale));
    lines.push_back(std::move(line));
  }
  std::string text = grid(lines) + '\n';
  for (std::size_t arm = 1; arm < arms.size(); ++arm) text += comparison(seeds, arm) + reasons(seeds, arm);
  for (std::size_t arm = 0; arm < arms.size(); ++arm) text += short_of_budget(seeds, arm);
  for (const auto& seed : seeds)
    if (!seed.used_up.empty())
      text += fmt::format("{}{}\n", seeds.size() > 1 ? fmt::format("seed {}: ", seed.seed) : "", used_up_line(seed, context));
  if (context.interrupted) text += "The run was interrupted; these are the figures up to there.\n";
  return text;
}

nlohmann::json report_json(const std::vector<SeedResult>& seeds, const ReportContext& context) {
  nlohmann::json json = {{"world", context.world},           {"iterations", context.iterations},
                         {"tasks_sha256", context.tasks_sha256}, {"interrupted", context.interrupted},
                         {"arms", nlohmann::json::object()}};
  if (seeds.empty()) return json;
  json["seed"] = seeds[0].seed;
  for (const auto& seed : seeds) json["seeds"].push_back(seed.seed);
  json["budget_used_up"] = used_up_json(seeds);
  const auto& arms = seeds[0].arms;
  for (std::size_t arm = 0; arm < arms.size(); ++arm) {
    json["arms"][arms[arm].name] = arm_json(seeds, arm);
    if (arms[arm].name != "policy") continue;
    json["policy"] = context.policy;
    json["gate"] = gate_json(seeds, arm);
    json["engine_share"] = bootstrap_mean(over_seeds(seeds, arm, [](const ArmTally& a) {
                             return a.seconds > 0 ? a.engine_seconds / a.seconds : 0.0;
                           })).mean;
  }
  return json;
}

}  // namespace allot::training
