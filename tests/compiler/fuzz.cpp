// The engines compared on many random programs: `./dev fuzz`. Exit 0: no difference; 1: one was found, and is shown
// small; 2: the command line.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <thread>

#include "tests/compiler/batch_harness.h"
#include "tests/compiler/harness.h"
#include "tests/compiler/shrink.h"

using namespace allot::compiler;
using namespace allot::compiler::test;

namespace {

struct Options {
  std::uint64_t programs = 100'000;
  std::uint64_t inputs = 500;
  std::uint64_t seed = 1;
  std::uint64_t only = 0;
  int jobs = 1;
};

constexpr int most_jobs = 64;

// Shared by all workers.
struct Progress {
  std::atomic<std::uint64_t> done{0};
  std::atomic<bool> failed{false};
  std::atomic<std::uint64_t> current[most_jobs] = {};  // the seed that a worker is at
};

// Where and how the engines differ on a program of that seed; empty where they agree.
std::string difference(const Program& program, std::uint64_t seed, std::uint64_t inputs) {
  const Engines engines(program);
  for (std::uint64_t frame = 0; frame < inputs; ++frame) {
    const std::string found = engines.difference(frame_seed(seed, frame));
    if (!found.empty()) return "frame " + std::to_string(frame) + "\n" + found;
  }
  const Comparison batch =
      compare_batches(program, program, seed, is_scalar(program) ? static_cast<std::int64_t>(inputs) : 40);
  return batch.evaluator == batch.machine ? "" : "as a batch\n" + text(program);
}

// True where all agree; else tells the difference, of the smallest program that still has one.
bool compare(std::uint64_t seed, std::uint64_t inputs) {
  const Program program = any_program(seed);
  if (difference(program, seed, inputs).empty()) return true;
  std::fprintf(stderr, "\nfuzz: the engines differ on program %llu; making it smaller\n",
               static_cast<unsigned long long>(seed));
  const auto differs = [&](const Program& candidate) {
    try {
      return !difference(candidate, seed, inputs).empty();
    } catch (const std::exception&) {
      return false;  // not the same mistake
    }
  };
  const Program small = shrink(program, differs);
  std::cout << "program " << seed << ", " << difference(small, seed, inputs) << "again: ./dev fuzz --only " << seed
            << "\n"
            << std::flush;
  return false;
}

int work(const Options& options, int job, Progress& progress) {
  const std::uint64_t end = options.seed + options.programs;
  for (std::uint64_t seed = options.seed + static_cast<std::uint64_t>(job); seed < end && !progress.failed;
       seed += static_cast<std::uint64_t>(options.jobs)) {
    progress.current[job] = seed;
    if (!compare(seed, options.inputs)) {
      progress.failed = true;
      return 1;
    }
    ++progress.done;
  }
  return 0;
}

// A line that is written over on a terminal, and once in a while elsewhere.
class ProgressLine {
 public:
  ProgressLine(const Options& options, const Progress& progress) : options_(options), progress_(progress) {}

  void show(bool last) {
    const auto now = std::chrono::steady_clock::now();
    const std::uint64_t done = progress_.done;
    if (!last && !terminal_ && now - shown_ < std::chrono::seconds(30)) return;
    shown_ = now;
    const double seconds = std::chrono::duration<double>(now - begin_).count();
    const double left =
        done == 0 ? 0 : seconds / static_cast<double>(done) * static_cast<double>(options_.programs - done);
    std::fprintf(stderr, "%sfuzz: %llu of %llu programs, %.0f s, about %.0f s to go   %s", terminal_ ? "\r" : "",
                 static_cast<unsigned long long>(done), static_cast<unsigned long long>(options_.programs), seconds,
                 left, terminal_ && !last ? "" : "\n");
  }

 private:
  const Options& options_;
  const Progress& progress_;
  const bool terminal_ = isatty(STDERR_FILENO) != 0;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point shown_ = begin_;
};

// Processes, since one LLVM compiles one program at a time, and since one that crashes tells its seed through the
// others.
int run(const Options& options) {
  void* const memory = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    std::perror("fuzz: no memory to share");
    return 2;
  }
  Progress& progress = *new (memory) Progress;
  std::vector<pid_t> workers;
  for (int job = 0; job < options.jobs; ++job) {
    const pid_t worker = fork();
    if (worker == 0) _exit(work(options, job, progress));
    workers.push_back(worker);
  }
  ProgressLine line(options, progress);
  bool fine = true;
  for (std::size_t running = workers.size(); running > 0;) {
    int status = 0;
    const pid_t ended = waitpid(-1, &status, WNOHANG);
    if (ended <= 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      line.show(false);
      continue;
    }
    --running;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
    fine = false;
    if (!WIFSIGNALED(status)) continue;
    progress.failed = true;  // the others need not go on
    for (std::size_t job = 0; job < workers.size(); ++job) {
      if (workers[job] != ended) continue;
      std::printf("program %llu ended its process with signal %d\nagain: ./dev fuzz --only %llu\n",
                  static_cast<unsigned long long>(progress.current[job]), WTERMSIG(status),
                  static_cast<unsigned long long>(progress.current[job]));
    }
  }
  line.show(true);
  if (fine)
    std::printf("%llu programs with %llu inputs each: all engines agree\n",
                static_cast<unsigned long long>(options.programs), static_cast<unsigned long long>(options.inputs));
  return fine ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Compares evaluator, machine code and batches on random programs.", "./dev fuzz");
  app.add_option("--programs", options.programs, "how many")->check(CLI::PositiveNumber);
  app.add_option("--inputs", options.inputs, "frames for each")->check(CLI::Range(1, 1000));
  app.add_option("--seed", options.seed, "of the first; the next have the next");
  app.add_option("--only", options.only, "compare that one program, and make it small where the engines differ");
  app.add_option("--jobs", options.jobs, "processes")->check(CLI::Range(1, most_jobs));
  CLI11_PARSE(app, argc, argv);
  if (app.count("--only") > 0) {
    const bool fine = compare(options.only, options.inputs);
    if (fine) std::printf("program %llu: all engines agree\n", static_cast<unsigned long long>(options.only));
    return fine ? 0 : 1;
  }
  return run(options);
}
