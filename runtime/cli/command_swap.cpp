// allot swap, allot rollback: another policy for a run under way.
#include <fmt/core.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <atomic>
#include <csignal>
#include <memory>
#include <nlohmann/json.hpp>

#include "runtime/cli/command.h"
#include "runtime/cli/policy_file.h"
#include "runtime/cli/run_folder.h"
#include "runtime/engine/policy.h"
#include "runtime/engine/swap_files.h"

namespace allot::cli {

namespace {

using engine::SwapOutcome;
using Json = nlohmann::ordered_json;

struct SwapOptions {
  std::string run;
  std::string policy;  // empty: a rollback
  std::string expected;
  std::string state = "now";
  std::vector<std::string> settings;
  bool now = false;
  std::string canary;
  double wait = 30;
  bool json = false;
};

std::atomic<bool> interrupted = false;  // by Ctrl-C: a request that is not wanted any more does not stay behind
static_assert(std::atomic<bool>::is_always_lock_free);

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

Json to_json(const engine::SwapReport& report) {
  const engine::StateChanges& state = report.state;
  return {{"outcome", name(report.outcome)},
          {"from", report.from},
          {"to", report.to},
          {"parameters", report.parameters},
          {"version", report.version},
          {"iteration", report.iteration},
          {"reason", report.reason},
          {"state", {{"kept", state.kept}, {"migrated", state.migrated}, {"started", state.started}, {"dropped", state.dropped}}},
          {"groups_moved", report.groups_moved},
          {"groups_restarted", report.groups_restarted},
          {"seconds", report.seconds}};
}

void print(const engine::SwapReport& report) {
  const auto hash = [](const std::string& text) { return text.substr(0, 12); };
  const std::string to = engine::policy_words(report.to, report.parameters);
  switch (report.outcome) {
    case SwapOutcome::Active:
      fmt::print("active: version {}, {} in the place of {}, from iteration {} on; ready after {:.0f} ms\n", report.version,
                 to, hash(report.from), report.iteration, 1000 * report.seconds);
      break;
    case SwapOutcome::Waiting: fmt::print("accepted: {}; ", to); break;
    case SwapOutcome::Canary: fmt::print("canary: version {}, {} beside {}; ", report.version, to, hash(report.from)); break;
    case SwapOutcome::Unchanged: fmt::print("unchanged: {} is active already, as version {}\n", to, report.version); break;
    case SwapOutcome::Refused:
    case SwapOutcome::Superseded: return;
  }
  if (!report.reason.empty()) fmt::print("{}\n", report.reason);
  for (const auto& [word, names] : {std::pair("kept", &report.state.kept), std::pair("migrated", &report.state.migrated),
                                    std::pair("begun anew", &report.state.started), std::pair("dropped", &report.state.dropped)}) {
    if (!names->empty()) fmt::print("  state {}: {}\n", word, listed(*names));
  }
  if (report.groups_moved > 0) {
    fmt::print("  {} groups go on under it, {} of them with state begun anew\n", report.groups_moved, report.groups_restarted);
  }
}

Result<double> share(const std::string& text) {
  const bool percent = text.ends_with('%');
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const bool whole = !text.empty() && std::string(end) == (percent ? "%" : "");
  const double part = percent ? value / 100 : value;
  if (whole && part > 0 && part < 1) return part;
  return Error{fmt::format("'{}' is no share of the groups", text), "give one between 0 and 1, such as --canary 10%"};
}

// What is asked for; its mistakes are told here, where the file lies.
std::optional<engine::SwapRequest> request_of(const SwapOptions& options, Exit& exit) {
  engine::SwapRequest request;
  const auto misuse = [&](const Error& error) {
    complain(error);
    exit = Exit::Misuse;
    return std::nullopt;
  };
  request.expected = options.expected;
  request.now = options.now;
  if (!options.canary.empty()) {
    const auto part = share(options.canary);
    if (!part) return misuse(part.error());
    request.canary = *part;
  }
  const auto settings = parse_settings(options.settings);
  if (!settings) return misuse(settings.error());
  request.parameters = *settings;
  if (options.policy.empty()) {
    request.back = options.state == "then" ? engine::StateOf::Then : engine::StateOf::Now;
    return request;
  }
  const auto file = read_policy(options.policy);
  if (!file) return misuse(file.error());
  show_diagnostics(*file);
  exit = Exit::Failed;
  if (!file->program) return std::nullopt;
  const auto policy = engine::load_policy(std::filesystem::absolute(options.policy).lexically_normal(), {});
  if (!policy) return misuse(policy.error());
  request.text = (*policy)->origin()->text;
  return request;
}

Exit swap(const SwapOptions& options) {
  const auto folder = journal_folder(options.run);
  if (!folder) return complain(folder.error()), Exit::Misuse;
  Exit exit = Exit::Failed;
  auto request = request_of(options, exit);
  if (!request) return exit;
  // Whatever is active as the request is made: a swap in between is noticed.
  if (request->expected.empty()) {
    const auto beat = engine::who_serves(*folder);
    if (!beat) return complain(beat.error()), Exit::Misuse;
    request->expected = fmt::format("v{}", beat->version);
  }
  (void)std::signal(SIGINT, [](int) { interrupted = true; });
  const auto report = engine::ask_for_swap(*folder, *request, options.wait, &interrupted);
  if (!report) return complain(report.error()), Exit::Misuse;
  const bool good = report->outcome != SwapOutcome::Refused && report->outcome != SwapOutcome::Superseded;
  if (options.json) {
    fmt::print("{}\n", to_json(*report).dump());
  } else {
    print(*report);
  }
  if (!good) complain({fmt::format("{}: {}", name(report->outcome), report->reason), ""});
  return good ? Exit::Good : Exit::Failed;
}

void add_common(CLI::App* command, SwapOptions& options) {
  command->add_option("RUN", options.run, "a run folder, or the folder of one of its arms; `allot train` or `allot serve` must be running it")->required();
  command->add_option("--expect", options.expected,
                      "the version that is to be replaced, such as v3; or the hash of its text, or the first 8 or more digits of "
                      "that: it tells nothing of parameters, so a version of the same text that somebody swapped in with other "
                      "values of --set is replaced too; default: the version that is active when the request is made")
      ->check(CLI::Validator(
          [](std::string& text) {
            if (engine::is_version_number(text)) return std::string();
            const bool digits = text.size() >= 8 && text.size() <= 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
            return digits ? std::string() : fmt::format("'{}' is no hash of a policy: give eight or more of its digits, or a version such as v3", text);
          },
          ""));
  command->add_option("--wait", options.wait, "seconds to wait for the outcome")->check(CLI::Range(0.1, 86400.0))->capture_default_str();
  command->add_flag("--json", options.json, "the outcome as one JSON object");
}

}  // namespace

void add_swap(CLI::App& app, Exit& exit) {
  auto options = std::make_shared<SwapOptions>();
  CLI::App* command = app.add_subcommand("swap", "Put another policy into a run under way");
  add_common(command, *options);
  command->add_option("FILE", options->policy, "the policy that comes")->required();
  command->add_option("--set", options->settings, "give a parameter a value beside those of the run: NAME=VALUE (may be repeated)")
      ->allow_extra_args(false);
  command->add_flag("--now", options->now, "groups that run change over too, where state and statistics allow it");
  command->add_option("--canary", options->canary, "let it decide about a share only, such as 10%: of the groups, or of the iterations where groups are ranked");
  command->footer(
      "examples:\n"
      "  allot plan tighter.allot --on runs/first              what would change?\n"
      "  allot swap runs/first tighter.allot --expect v3       let it decide, unless somebody was faster\n"
      "  allot rollback runs/first                             take it back\n"
      "A trainer that made its engine in Python swaps it there: engine.swap(FILE), engine.roll_back().\n"
      "exit status: 0 active, waiting for the end of the iteration, or unchanged; 1 refused or superseded; 2 no such run,\n"
      "or it is not alive");
  command->callback([options, &exit] { exit = swap(*options); });
}

void add_rollback(CLI::App& app, Exit& exit) {
  auto options = std::make_shared<SwapOptions>();
  CLI::App* command = app.add_subcommand("rollback", "Return a run under way to the version before, or take a canary back");
  add_common(command, *options);
  command->add_option("--state", options->state, "what is remembered: as it is now, or as it was then")
      ->check(CLI::IsMember({"now", "then"}))
      ->capture_default_str();
  command->footer("example:\n  allot rollback runs/first --state then\nexit status: as of `allot swap`");
  command->callback([options, &exit] { exit = swap(*options); });
}

}  // namespace allot::cli
