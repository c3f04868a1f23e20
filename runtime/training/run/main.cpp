// allot-train: `allot train` starts it, so that the program people type at links no LibTorch.
#include <fmt/format.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>

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

// Why standard output could not be written, as in errno; else 0.
int tell(const allot::training::ExperimentResult& result, const std::string& text, const std::string& json,
         const allot::training::RunOptions& options) {
  try {
    if (!options.quiet) fmt::print(options.json ? stderr : stdout, "\n{}\nrun folder: {}\n", text, result.run.string());
    if (options.json) fmt::print("{}\n", json);
    return std::fflush(stdout) == 0 ? 0 : errno;
  } catch (const std::system_error& problem) {
    return problem.code().value();
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
    complain(result.error(), options.json);
    return static_cast<int>(failure);
  }
  const auto json = report_json(result->seeds, result->context);
  const auto text = report_text(result->seeds, result->context);
  std::ofstream(result->run / "report.json") << json.dump(2) << '\n';
  std::ofstream(result->run / "report.txt") << text;
  if (const int reason = tell(*result, text, json.dump(), options); reason != 0) {
    complain({fmt::format("cannot write to standard output: {}", std::strerror(reason)), "the run folder has the report"}, false);
    return 1;
  }
  return result->context.interrupted ? 130 : 0;
}
