// allot plan: what would change if this policy took the place of the active one?
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "lang/unicode.h"
#include "runtime/cli/command.h"
#include "runtime/cli/policy_file.h"
#include "runtime/cli/run_folder.h"
#include "runtime/engine/active_policy.h"
#include "runtime/engine/settings_record.h"
#include "runtime/engine/state_files.h"
#include "runtime/engine/swap_outlook.h"
#include "runtime/replay/plan.h"
#include "runtime/replay/rollouts.h"

namespace allot::cli {

namespace {

using Json = nlohmann::ordered_json;

struct PlanOptions {
  std::string policy;
  std::string log;
  std::string against;
  std::vector<std::string> settings;
  std::size_t most = 20;
  bool json = false;
};

// What is compared: two policies over one log.
struct Compared {
  std::shared_ptr<const lang::Program> before, after;
  std::filesystem::path log;
  replay::Plan plan;
  engine::SwapOutlook outlook;
};

Json side(const replay::Outcome& outcome, const std::string& fate) {
  return {{"fate", fate}, {"rule", outcome.rule}, {"reason", outcome.reason}};
}

Json document(const Compared& compared) {
  const engine::SwapOutlook& outlook = compared.outlook;
  const engine::StateChanges& changes = outlook.state;
  Json json = {{"from", {{"policy", compared.before->name}, {"sha256", compared.before->hash}}},
               {"to", {{"policy", compared.after->name}, {"sha256", compared.after->hash}}},
               {"log", compared.log.string()},
               {"groups", compared.plan.groups},
               {"changed", compared.plan.changes.size()},
               {"counts", compared.plan.counts},
               {"state", {{"kept", changes.kept}, {"migrated", changes.migrated}, {"started", changes.started}, {"dropped", changes.dropped}}},
               {"budgets", outlook.budgets},
               {"handlers_gone", outlook.handlers},
               {"waits", outlook.waits}};
  json["refused"] = Json::array();
  for (const Error& error : outlook.refusals) json["refused"].push_back({{"reason", error.what}, {"help", error.help}});
  json["changes"] = Json::array();
  for (const replay::Change& change : compared.plan.changes) {
    json["changes"].push_back({{"group", change.group}, {"before", side(change.was, change.before)}, {"after", side(change.becomes, change.after)}});
  }
  json["notes"] = compared.plan.notes;
  return json;
}

// What becomes of the rest, and what stands in the way.
std::string swap_words(const Json& json) {
  std::string text;
  const auto list = [](const Json& names) {
    std::string listed;
    for (const Json& name : names) listed += (listed.empty() ? "" : ", ") + name.get<std::string>();
    return listed;
  };
  const Json& state = json["state"];
  for (const auto& [member, word] : {std::pair("migrated", "migrated"), std::pair("started", "begun anew"), std::pair("dropped", "dropped")}) {
    if (!state[member].empty()) text += fmt::format("state {}: {}\n", word, list(state[member]));
  }
  for (const Json& budget : json["budgets"]) text += fmt::format("budget: {}\n", budget.get<std::string>());
  if (!json["handlers_gone"].empty()) text += fmt::format("not asked any more: {}\n", list(json["handlers_gone"]));
  if (const auto waits = json["waits"].get<std::string>(); !waits.empty()) {
    text += fmt::format("a swap would take over at the end of an iteration: {}\n", waits);
  }
  for (const Json& refusal : json["refused"]) {
    text += fmt::format("a swap would be refused: {}\n", Error{refusal["reason"].get<std::string>(), refusal["help"].get<std::string>()}.text());
  }
  return text;
}

std::string words(const Json& json, std::size_t most) {
  std::string text;
  const auto hash = [&](const char* side) { return json.at(side).at("sha256").get<std::string>().substr(0, 12); };
  text += fmt::format("{} {} -> {} {} on {}: {} of {} groups are decided otherwise\n", json["from"]["policy"].get<std::string>(), hash("from"),
             json["to"]["policy"].get<std::string>(), hash("to"), json["log"].get<std::string>(), json["changed"].get<int>(),
             json["groups"].get<int>());
  for (const auto& [change, count] : json["counts"].items()) text += fmt::format("  {:<40} {:>5}\n", change, count.get<int>());
  std::size_t told = 0;
  for (const Json& change : json["changes"]) {
    if (told++ == most) break;
    const Json& decided = change["after"]["rule"].get<std::string>().empty() ? change["before"] : change["after"];
    const std::string reason = decided["reason"].get<std::string>();
    text += fmt::format("group {}: {} -> {}{}  [{}]\n", lang::shown_in_line(change["group"].get<std::string>()), change["before"]["fate"].get<std::string>(),
               change["after"]["fate"].get<std::string>(), reason.empty() ? "" : " because \"" + lang::shown_in_line(reason) + "\"", decided["rule"].get<std::string>());
  }
  if (json["changes"].size() > most) text += fmt::format("and {} more (--json tells of all)\n", json["changes"].size() - most);
  text += swap_words(json);
  for (const Json& note : json["notes"]) text += fmt::format("note: {}\n", note.get<std::string>());
  return text;
}

Result<replay::Report> back_test(const engine::Policy& policy, std::shared_ptr<const lang::Program> program,
                                 const std::filesystem::path& log) {
  return replay::replay_rollouts(std::move(program), policy.parameters(), log);
}

// The program shares the life of its policy.
std::shared_ptr<const lang::Program> program_of(const std::shared_ptr<engine::Policy>& policy) {
  return {policy, &policy->program()};
}

engine::KnownRun known_run(const std::filesystem::path& folder) {
  engine::KnownRun run;
  if (auto settings = engine::recorded_settings(folder)) run.settings = *std::move(settings);
  if (auto state = engine::read_state(folder, {})) run.state = *std::move(state);
  return run;
}

Exit plan(const PlanOptions& options) {
  const auto misuse = [](const Error& error) { return complain(error), Exit::Misuse; };
  std::error_code ignored;
  const bool of_run = std::filesystem::is_directory(options.log, ignored);
  std::filesystem::path log = options.log;
  std::shared_ptr<engine::Policy> before;
  std::map<std::string, std::string> parameters;
  if (of_run) {
    const auto folder = journal_folder(options.log);
    if (!folder) return misuse(folder.error());
    auto rollouts = rollouts_of(*folder);
    if (!rollouts) return misuse(rollouts.error());
    log = *std::move(rollouts);
    if (options.against.empty()) {
      auto active = engine::active_policy(*folder);
      if (!active) return misuse(active.error());
      before = *std::move(active);
      parameters = before->origin()->parameters;
    }
  }
  if (!before) {
    if (options.against.empty()) return misuse({"a log file does not tell which policy is to be replaced", "name it: --against FILE"});
    auto given = engine::load_policy(options.against, {});
    if (!given) return keep_diagnostics_of(options.against), complain(given.error()), Exit::Failed;
    before = *std::move(given);
  }
  const auto settings = parse_settings(options.settings);
  if (!settings) return misuse(settings.error());
  for (const auto& [name, value] : *settings) parameters[name] = value;
  const auto file = read_policy(options.policy);
  if (!file) return misuse(file.error());
  show_diagnostics(*file);
  if (!file->program) return Exit::Failed;
  const auto after = engine::load_policy(options.policy, parameters);
  if (!after) return complain(after.error()), Exit::Failed;
  Compared compared{program_of(before), program_of(*after), log, {}, {}};
  const auto was = back_test(*before, compared.before, log);
  if (!was) return misuse(was.error());
  const auto becomes = back_test(**after, compared.after, log);
  if (!becomes) return misuse(becomes.error());
  compared.plan = replay::compare(*was, *becomes);
  engine::KnownRun run = of_run ? known_run(log.parent_path()) : engine::KnownRun{};
  const bool limits_known = run.settings.has_value();
  compared.outlook = engine::foresee_swap(before, *after, std::move(run));
  if (!limits_known) {
    compared.plan.notes.emplace_back("the turn limit of the run, its inputs and what its host can do are not known here: a swap may be "
                                     "refused for them");
  }
  const Json json = document(compared);
  options.json ? fmt::print("{}\n", json.dump(2)) : fmt::print("{}", lang::shown(words(json, options.most)));
  return compared.outlook.refusals.empty() ? Exit::Good : Exit::Failed;
}

}  // namespace

void add_plan(CLI::App& app, Exit& exit) {
  auto options = std::make_shared<PlanOptions>();
  CLI::App* command = app.add_subcommand("plan", "Show what another policy would decide otherwise, before anything is swapped");
  command->add_option("NEW", options->policy, "the policy that would come")->required();
  command->add_option("--on", options->log, "a run folder, or a log of rollouts in the schema rollout/1")->required();
  command->add_option("--against", options->against, "the policy to compare with; default: the active one of the run");
  command->add_option("--set", options->settings, "give a parameter of NEW a value beside those of the run: NAME=VALUE (may be repeated)")
      ->allow_extra_args(false);
  command->add_option("--most", options->most, "groups to tell of")->capture_default_str();
  command->add_flag("--json", options->json, "everything, as one JSON object");
  command->footer(
      "Both policies are asked about the logged groups again, turn by turn, as `allot replay` does; what a log cannot tell\n"
      "is noted. Beside that it tells what a swap would do to state and budgets, and every reason to refuse it.\n"
      "examples:\n"
      "  allot plan tighter.allot --on runs/first\n"
      "  allot plan tighter.allot --on rollouts.jsonl --against gate.allot --json\n"
      "exit status: 0 told, 1 errors in a policy, or a swap would be refused; 2 a log that cannot be read");
  command->callback([options, &exit] { exit = plan(*options); });
}

}  // namespace allot::cli
