// allot replay: what would this policy have done with what was logged?
#include <fmt/core.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "lang/unicode.h"
#include "runtime/cli/command.h"
#include "runtime/cli/policy_file.h"
#include "runtime/cli/replay_journal.h"
#include "runtime/engine/trust.h"
#include "runtime/replay/lines.h"
#include "runtime/replay/rollouts.h"
#include "runtime/replay/statistics_table.h"

namespace allot::cli {

namespace {

using Json = nlohmann::ordered_json;

struct ReplayOptions {
  std::string policy;
  std::string statistics;
  std::string rollouts;
  std::string journal;
  std::vector<std::string> map;
  std::vector<std::string> settings;
  bool groups = false;
  bool json = false;
};

constexpr std::size_t most_table_bytes = 256 << 20;

Result<replay::Report> replay_statistics(const lang::Program& program, const std::vector<lang::Cell>& parameters,
                                         const ReplayOptions& options) {
  auto lines = replay::Lines::open(options.statistics);
  if (!lines) return lines.error();
  std::string text, line;
  for (auto more = lines->next(line);; more = lines->next(line)) {
    if (!more || text.size() > most_table_bytes) {
      return Error{fmt::format("{}: {}", options.statistics, more ? "the table is too large" : more.error().what), ""};
    }
    if (!*more) break;
    text += line + (lines->whole() ? "\n" : "");
  }
  const auto in_file = [&](const Error& error) { return Error{options.statistics + ": " + error.what, error.help}; };
  const auto csv = replay::parse_csv(text);
  if (!csv) return in_file(csv.error());
  const auto mapping = replay::read_mapping(*csv, options.map);
  if (!mapping) return in_file(mapping.error());
  auto report = replay::replay_table(program, parameters, *csv, *mapping);
  if (!report) return in_file(report.error());
  return report;
}

Json or_null(std::optional<double> value) {
  return value ? Json(*value) : Json();
}

// Precision with Wilson's interval: a handful of stopped groups says little, and that should be seen.
Json to_json(const replay::Counts& counts, int flat) {
  Json object = {{"stopped", counts.stopped},
                 {"flat_stopped", counts.flat_stopped},
                 {"unknown_stopped", counts.unknown_stopped},
                 {"precision", or_null(counts.precision())},
                 {"recall", or_null(counts.recall(flat))}};
  if (counts.precision()) {
    const auto interval = engine::wilson(counts.flat_stopped, counts.stopped - counts.unknown_stopped);
    object["precision_interval"] = {interval.low, interval.high};
  }
  return object;
}

Json to_json(const replay::Outcome& outcome, bool costs) {
  Json object = {{"group", outcome.group},
                 {"asked", outcome.asked},
                 {"turn", outcome.turn},
                 {"stopped", outcome.stopped},
                 {"stopped_samples", Json::array()},
                 {"late", outcome.late},
                 {"dropped", outcome.dropped},
                 {"flat", outcome.flat ? Json(*outcome.flat) : Json()},
                 {"reason", outcome.reason},
                 {"rule", outcome.rule}};
  for (const auto& [sample, turn] : outcome.stopped_samples) {
    object["stopped_samples"].push_back({{"sample", sample}, {"turn", turn}});
  }
  if (costs) object["turns"] = {{"executed", outcome.turns}, {"saved", outcome.turns_saved}};
  if (costs) object["tokens"] = {{"written", outcome.tokens}, {"saved", outcome.tokens_saved}};
  if (!outcome.fault.empty()) object["fault"] = outcome.fault;
  return object;
}

struct Sums {
  std::int64_t turns = 0, turns_saved = 0, tokens = 0, tokens_saved = 0;
  int asked = 0, cut = 0, samples = 0, dropped = 0, flat_dropped = 0, faults = 0;
};

Sums sums(const replay::Report& report) {
  Sums sums;
  for (const replay::Outcome& outcome : report.outcomes) {
    sums.turns += outcome.turns;
    sums.turns_saved += outcome.late ? 0 : outcome.turns_saved;
    sums.tokens += outcome.tokens;
    sums.tokens_saved += outcome.late ? 0 : outcome.tokens_saved;
    sums.asked += outcome.asked;
    sums.cut += !outcome.stopped_samples.empty();
    sums.samples += static_cast<int>(outcome.stopped_samples.size());
    sums.dropped += outcome.dropped;
    sums.flat_dropped += outcome.dropped && outcome.flat.value_or(false);
    sums.faults += !outcome.fault.empty();
  }
  return sums;
}

Json document(const replay::Report& report, const lang::Program& program, const std::vector<lang::Cell>& parameters,
              const ReplayOptions& options) {
  const int flat = report.flat();
  const Sums total = sums(report);
  Json values = Json::object();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    values[program.parameters[i].name] = lang::show(parameters[i], program.parameters[i].type);
  }
  Json json = {{"policy", program.name},
               {"sha256", program.hash},
               {"parameters", values},
               {"source", options.statistics.empty() ? options.rollouts : options.statistics},
               {"groups", report.outcomes.size()},
               {"asked", total.asked},
               {"flat", flat},
               {"unknown", report.unknown()}};
  json.update(to_json(report.all(), flat));
  json["stoppable"] = report.lateness_known ? to_json(report.stoppable(), flat) : Json();
  json["stopped_where"] = {{"groups", total.cut}, {"rollouts", total.samples}};
  json["dropped"] = total.dropped;
  json["flat_dropped"] = total.flat_dropped;
  json["faults"] = total.faults;
  if (report.costs_known) {
    json["turns"] = {{"executed", total.turns}, {"saved", total.turns_saved}};
    json["tokens"] = {{"written", total.tokens}, {"saved", total.tokens_saved}};
  }
  json["mapped"] = report.mapped;
  json["notes"] = report.notes;
  if (options.groups) {
    json["decisions"] = Json::array();
    for (const replay::Outcome& outcome : report.outcomes) {
      json["decisions"].push_back(to_json(outcome, report.costs_known));
    }
  }
  return json;
}

std::string share(const Json& value) {
  return value.is_null() ? "-" : fmt::format("{:.2f}", value.get<double>());
}

void print_row(std::string_view name, const Json& counts) {
  std::string precision = share(counts["precision"]);
  if (counts.contains("precision_interval")) {
    const Json& interval = counts["precision_interval"];
    precision += fmt::format(" [{}, {}]", share(interval[0]), share(interval[1]));
  }
  fmt::print("{:<28} {:>7} {:>12}   {:<20} {:>6}\n", name, counts["stopped"].get<int>(),
             counts["flat_stopped"].get<int>(), precision, share(counts["recall"]));
}

void print_groups(const Json& decisions) {
  fmt::print("\n{:<12} {:>4}  {:<6} {:<9} reason\n", "group", "turn", "flat", "verdict");
  for (const Json& group : decisions) {
    const std::string verdict = group["stopped"].get<bool>() ? (group["late"].get<bool>() ? "late stop" : "stop")
                                                             : (group["dropped"].get<bool>() ? "drop" : "train");
    fmt::print("{:<12} {:>4}  {:<6} {:<9} {}\n", lang::shown_in_line(group["group"].get<std::string>()), group["turn"].get<int>(),
               group["flat"].is_null()     ? "?"
               : group["flat"].get<bool>() ? "flat"
                                           : "mixed",
               verdict, lang::shown_in_line(group["reason"].get<std::string>()));
  }
}

void print(const Json& json) {
  fmt::print("policy {} on {}: {} groups, {} of them flat", json["policy"].get<std::string>(),
             json["source"].get<std::string>(), json["groups"].get<int>(), json["flat"].get<int>());
  if (json["unknown"].get<int>() > 0) fmt::print(", {} unknown", json["unknown"].get<int>());
  fmt::print("\n\n{:<28} {:>7} {:>12}   {:<20} {:>6}\n", "", "stopped", "flat stopped", "precision (95 %)", "recall");
  print_row("all", json);
  if (!json["stoppable"].is_null()) print_row("while a rollout was alive", json["stoppable"]);
  fmt::print("\n");
  if (json.contains("turns")) {
    for (const auto& [name, whole] : {std::pair{"turns", "executed"}, std::pair{"tokens", "written"}}) {
      fmt::print("{} of {} {} would have been saved\n", json[name]["saved"].get<std::int64_t>(),
                 json[name][whole].get<std::int64_t>(), name);
    }
  }
  if (json["stopped_where"]["groups"].get<int>() > 0) {
    fmt::print("{} rollouts of {} groups would have been stopped by `stop where`\n",
               json["stopped_where"]["rollouts"].get<int>(), json["stopped_where"]["groups"].get<int>());
  }
  if (json["dropped"].get<int>() > 0) {
    fmt::print("{} groups would have been dropped, {} of them flat\n", json["dropped"].get<int>(),
               json["flat_dropped"].get<int>());
  }
  if (json["faults"].get<int>() > 0) {
    fmt::print("{} groups met a fault and got the default of the point (--groups --json shows them)\n",
               json["faults"].get<int>());
  }
  for (const Json& mapped : json["mapped"]) fmt::print("{}\n", mapped.get<std::string>());
  for (const Json& note : json["notes"]) fmt::print("note: {}\n", note.get<std::string>());
  if (json.contains("decisions")) print_groups(json["decisions"]);
}

Exit replay(const ReplayOptions& options) {
  if (!options.journal.empty()) {
    const bool other = !options.policy.empty() || !options.statistics.empty() || !options.rollouts.empty();
    if (!other) return replay_journal(options.journal, options.json);
    complain({"--journal plays a run again under its own policy, without another source",
              "to try another policy, give it with --rollouts"});
    return Exit::Misuse;
  }
  if (options.policy.empty()) {
    complain({"a back-test needs a policy file", "`allot replay POLICY --rollouts FILE`, or `allot replay --journal RUN`"});
    return Exit::Misuse;
  }
  if (options.statistics.empty() == options.rollouts.empty()) {
    complain({"a back-test needs one source: --statistics FILE.csv or --rollouts FILE.jsonl",
              "`allot train` writes rollouts.jsonl into its run folder"});
    return Exit::Misuse;
  }
  if (!options.rollouts.empty() && !options.map.empty()) {
    return complain({"--map is about the columns of --statistics", ""}), Exit::Misuse;
  }
  const auto settings = parse_settings(options.settings);
  if (!settings) return complain(settings.error()), Exit::Misuse;
  Result<PolicyFile> file = read_policy(options.policy);
  if (!file) return complain(file.error()), Exit::Misuse;
  show_diagnostics(*file);
  if (!file->program) return Exit::Failed;
  const auto program = std::make_shared<const lang::Program>(*std::move(file->program));
  const auto parameters = lang::bind(*program, *settings);
  if (!parameters) return complain(parameters.error()), Exit::Misuse;
  const auto report = options.statistics.empty() ? replay::replay_rollouts(program, *parameters, options.rollouts)
                                                 : replay_statistics(*program, *parameters, options);
  if (!report) return complain(report.error()), Exit::Misuse;
  const Json json = document(*report, *program, *parameters, options);
  options.json ? fmt::print("{}\n", json.dump(2)) : print(json);
  return Exit::Good;
}

}  // namespace

void add_replay(CLI::App& app, Exit& exit) {
  auto options = std::make_shared<ReplayOptions>();
  CLI::App* command = app.add_subcommand("replay", "Back-test a policy on logged rollouts or on a table of statistics, or play a run again");
  command->add_option("POLICY", options->policy, "a policy file");
  command->add_option("--rollouts", options->rollouts,
                      "JSON lines of the schema rollout/1: the rollouts.jsonl in the run folder of `allot train`");
  command->add_option("--statistics", options->statistics,
                      "a CSV table: a row a group, or a row a group and turn, with statistics of the group in columns");
  command
      ->add_option(
          "--map", options->map,
          "which column is what: NAME=COLUMN, or NAME@TURN=COLUMN for a column about one turn (may be repeated)")
      ->allow_extra_args(false);
  command->add_option("--journal", options->journal,
                      "a run folder: play its events again under its own policy and compare all that was decided");
  command->add_option("--set", options->settings, "give a parameter a value: NAME=VALUE (may be repeated)")
      ->allow_extra_args(false);
  command->add_flag("--groups", options->groups, "tell of every group too");
  command->add_flag("--json", options->json, "the same as one JSON object");
  command->footer(
      "NAME is group, turn, label (all_fail, all_succeed or mixed; or whether flat: true or false), variance (of the\n"
      "rewards; flat where 0), a fact (g.started, g.tokens, …) or a statistic without its turn:\n"
      "  mean_pairwise(DISTANCE), min_pairwise(…), max_pairwise(…), unique_ratio(prefixes), unique_ratio(actions_at),\n"
      "  agreement, entropy(bits | nats | normalized), finished_fraction; unpadded ones: mean_pairwise(DISTANCE, "
      "unpadded)\n"
      "The layout published with Selective Rollout (K, task_id, label, prefix_edit_distance_mean, …) is known.\n"
      "A group is late where no rollout is alive at the turn (finished_fraction is 1): stopping it saves nothing.\n"
      "examples:\n"
      "  allot replay early.allot --rollouts runs/first/rollouts.jsonl\n"
      "  allot replay stdlib/selective_rollout.allot --statistics groups.csv --set threshold=0.2 --json\n"
      "  allot replay early.allot --statistics t.csv --map group=id --map label=outcome \\\n"
      "      --map 'mean_pairwise(normalized_edit_distance)@10=ed10'\n"
      "  allot replay --journal runs/first\n"
      "exit status: 0 told, 1 errors in the policy or a run that does not play again to the same, 2 a source that cannot be read or does not fit the policy");
  command->callback([options, &exit] { exit = replay(*options); });
}

}  // namespace allot::cli
