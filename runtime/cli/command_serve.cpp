// allot serve: an engine as a process of its own, for trainers and rollout workers in other processes.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "lang/unicode.h"
#include "runtime/cli/command.h"
#include "runtime/cli/output.h"
#include "runtime/cli/policy_file.h"
#include "runtime/cli/served_options.h"
#include "runtime/engine/abilities.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/policy_edits.h"
#include "runtime/engine/settings_record.h"
#include "runtime/engine/swap_desk.h"
#include "runtime/engine/swap_files.h"
#include "runtime/remote/server.h"

namespace allot::cli {

namespace {

using Json = nlohmann::ordered_json;

struct ServeOptions {
  engine::Settings engine;
  std::vector<std::string> settings;
  std::vector<std::string> can;
  std::string run;
  std::string socket;
  double grace = 1;
  bool resume = false;
  bool json = false;
};

// Only the thread that waits for them gets them, so every thread that is made later must be made after this.
sigset_t block_signals() {
  sigset_t ends;
  sigemptyset(&ends);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ends, signal);
  ::pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  return ends;
}

Result<std::unique_ptr<engine::Engine>> make_engine(const ServeOptions& options) {
  engine::Settings settings = options.engine;
  const auto parameters = parse_settings(options.settings);
  if (!parameters) return parameters.error();
  settings.parameters = *parameters;
  const auto host = engine::abilities_from(options.can);
  if (!host) return host.error();
  settings.host = *host;
  settings.run_folder = options.run;
  const std::filesystem::path file = settings.run_folder / "state.json";
  const auto state = engine::read_whole(file);
  if (state && !options.resume) {
    return Error{fmt::format("{} holds a run already.", options.run),
                 "--resume goes on with it; or name another folder"};
  }
  std::error_code failure;
  if (!state && options.resume && !std::filesystem::exists(settings.run_folder / "journal", failure))
    return Error{fmt::format("there is no state {} to go on from", file.string()), "leave --resume out"};
  if (options.resume) {
    auto resumed = check_resumed(settings);
    if (!resumed) return resumed.error();
    settings = *std::move(resumed);
  }
  if (!state && options.resume && settings.policy.empty() && !engine::last_start(settings.run_folder)) {
    return Error{fmt::format("the run at {} was ended before anything of it was written", options.run),
                 "name POLICY, with the options that the run is to have; or leave --resume out where it has none"};
  }
  auto made = engine::Engine::create(settings);
  if (made && !state && options.resume) {
    fmt::print(stderr, "allot: no state of the run at {} was saved yet: it begins anew\n  help: restore() the state of your checkpoint, "
                       "where you have one\n", lang::shown(options.run));
  }
  if (!made || !state) return made;
  if (const auto restored = (*made)->restore_from(settings.run_folder); !restored) return restored.error();
  return made;
}

// What a resumed run does not go on under, so that nobody takes an edit for active.
void tell_edits(const engine::Settings& settings, const std::string& run) {
  const auto edits = engine::edits_since_active(run, settings.policy, engine::OwnText::Told);
  if (edits.empty()) return;
  const std::string text = fmt::format("{}: the run goes on under the text that its folder keeps\n  help: `allot swap {} {}` swaps to "
                                       "the files as they are; or put them back\n",
                                       fmt::join(edits, "; "), run, settings.policy.string());
  fmt::print(stderr, "allot: {}", lang::shown(text));
}

Json to_json(const remote::ServerCounts& counts) {
  return {{"connections", counts.connections}, {"requests", counts.requests}, {"repeated", counts.repeated},
          {"refused", counts.refused},         {"slow", counts.slow},         {"gone", counts.gone},
          {"aborted", counts.aborted}};
}

void tell_ready(const ServeOptions& options, const engine::Engine& engine, const remote::Server& server) {
  const std::string name = engine.policy_name().empty() ? "no policy" : engine.policy_name();
  if (options.json) {
    const Json ready = {{"socket", server.path().string()},
                        {"policy", engine.policy_name()},
                        {"hash", engine.policy_hash()},
                        {"process", ::getpid()}};
    fmt::print("{}\n", ready.dump());
  } else {
    fmt::print("serving {} at {}; Ctrl-C ends it\n", name, server.path().string());
  }
  std::fflush(stdout);
}

void tell_end(const ServeOptions& options, const remote::ServerCounts& counts) {
  if (options.json) {
    fmt::print("{}\n", to_json(counts).dump());
    return;
  }
  fmt::print("{} requests over {} connections", counts.requests, counts.connections);
  if (counts.refused > 0) fmt::print("; {} refused", counts.refused);
  if (counts.slow > 0) fmt::print("; {} clients dropped that did not read", counts.slow);
  if (counts.gone > 0) fmt::print("; {} clients gone without a word, {} rollouts aborted", counts.gone, counts.aborted);
  fmt::print("\n");
}

Exit serve(const ServeOptions& options) {
  if (options.json) say_lines();
  const sigset_t ends = block_signals();
  const bool elsewhere = !options.socket.empty();
  const auto run_lock = elsewhere ? remote::lock_at(remote::socket_of(options.run)) : remote::Fd();
  if (!run_lock) return complain(run_lock.error()), Exit::Misuse;
  auto listener = remote::listen_at(remote::socket_of(elsewhere ? options.socket : options.run));
  if (!listener) return complain(listener.error()), Exit::Misuse;
  const auto refused = [&](const Error& error) {
    std::error_code ignored;
    std::filesystem::remove(listener->path, ignored);
    return complain(error), Exit::Misuse;
  };
  const auto engine = make_engine(options);
  if (!engine) {
    if (!options.resume && !options.engine.policy.empty()) keep_diagnostics_of(options.engine.policy);
    return refused(engine.error());
  }
  const auto desk = engine::SwapDesk::open(**engine, options.run, "");
  if (!desk) return refused(desk.error());
  if (options.resume && !options.engine.policy.empty()) tell_edits(options.engine, options.run);
  const auto server = remote::Server::over(*std::move(listener), **engine, {.grace = options.grace});
  tell_ready(options, **engine, *server);
  constexpr timespec second{1, 0};
  do {
    for (const std::string& line : (*desk)->take_messages()) fmt::print(stderr, "allot: {}\n", line);
    (*desk)->saved((*engine)->kept_change());
  } while (::sigtimedwait(&ends, nullptr, &second) < 0);
  server->close();
  tell_end(options, server->counts());
  return Exit::Good;
}

}  // namespace

void add_serve(CLI::App& app, Exit& exit) {
  auto options = std::make_shared<ServeOptions>();
  engine::Settings& settings = options->engine;
  CLI::App* command = app.add_subcommand("serve", "Serve an engine to trainers and rollout workers in other processes");
  command->add_option("POLICY", settings.policy, "the .allot file; without one every point has its default, and a resumed run has its own policy");
  command->add_option("--run", options->run, "the run's folder, for journal, state and socket")->required();
  command->add_option("--socket", options->socket,
                      "where to listen instead, NAME.sock; for filesystems without sockets");
  command->add_option("--set", options->settings, "NAME=VALUE for a parameter of the policy; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--inputs", settings.input_file, "JSON file with the policy's inputs");
  command->add_option("--can", options->can,
                      "what the trainer does beside starting, stopping and training: defers, scores, shapes, replays, losses; may be repeated")
      ->allow_extra_args(false);
  command->add_option("--slots", settings.slots, "groups of a batch")
      ->capture_default_str()
      ->check(CLI::Range(1, 4096));
  command->add_option("--group-size", settings.group_size, "rollouts of a group, where the policy has no `size`")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  command->add_option("--turns", settings.turn_limit, "turns of a rollout at most")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 20));
  command->add_option("--tokens-per-turn", settings.tokens_per_turn, "reserved from a budget before a turn")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 20));
  command->add_option("--seed", settings.seed, "of the policy's draws")->capture_default_str();
  command->add_flag("--shadow", settings.shadow, "the policy decides and logs, and changes nothing");
  command->add_option("--holdout", settings.holdout, "share of stopped groups that run to the end all the same")
      ->check(CLI::Range(0.0, 1.0));
  command->add_flag("--stop-on-fault", settings.stop_on_fault, "a fault in the policy ends the run");
  command->add_flag("--raw-reward", settings.has_raw_reward,
                    "ended() tells what the environment gave beside the reward");
  command->add_flag("!--no-native", settings.native, "stay with the evaluator, compile nothing");
  command->add_option("--grace", options->grace, "seconds in which a client whose connection broke may come back")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 3600.0));
  command->add_flag("--resume", options->resume, "go on from the last barrier of the run in --run, with the options that it began with");
  command->add_flag("--json", options->json, "one JSON object when it is ready, and one at the end");
  command->footer(
      "Clients connect by the run's folder: allot.connect(\"runs/first\") in Python, see docs/clients.md.\n"
      "`allot swap`, `log`, `why` and `audit` work on the run while it is served. SIGTERM and Ctrl-C end it.\n"
      "example:\n"
      "  allot serve early.allot --run runs/first --slots 32 --group-size 8\n"
      "exit status: 0 ended by a signal, 2 it could not begin");
  command->callback([options, &exit] { exit = serve(*options); });
}

}  // namespace allot::cli
