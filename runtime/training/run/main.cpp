// allot-train: `allot train` starts it, so that the program people type at links no LibTorch.
#include <fmt/format.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>

#include "runtime/training/run/experiment.h"

namespace {

std::atomic<bool> interrupted = false;

// The first Ctrl-C ends the run cleanly, the second at once.
extern "C" void on_interrupt(int signal) {
  if (interrupted.exchange(true)) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
}

}  // namespace

int main(int argc, char** argv) {
  using namespace allot::training;
  const auto parsed = parse_options(argc, argv);
  if (parsed.exit_status) return *parsed.exit_status;
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  const auto& options = parsed.options;
  auto failure = Failure::Run;
  const auto result = run_experiment(options, interrupted, failure);
  if (!result) {
    fmt::print(stderr, "allot train: {}\n", result.error().text());
    return static_cast<int>(failure);
  }
  const auto json = report_json(result->seeds, result->context);
  const auto text = report_text(result->seeds, result->context);
  std::ofstream(result->run / "report.json") << json.dump(2) << '\n';
  std::ofstream(result->run / "report.txt") << text;
  if (!options.quiet) fmt::print(options.json ? stderr : stdout, "\n{}\nrun folder: {}\n", text, result->run.string());
  if (options.json) fmt::print("{}\n", json.dump());
  return result->context.interrupted ? 130 : 0;
}
