// What machine code costs and what it brings: time from text to the first decision, time to compile, time a decision.
// Not a test: it prints figures and ratios, nothing depends on them.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <sstream>

#include "lang/diagnostics.h"
#include "tests/compiler/builder.h"

using namespace allot::compiler;
using namespace allot::compiler::test;

namespace {

// Of this thread alone, so that a busy machine does not count.
double processor_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

double nanoseconds(const std::function<void()>& work) {
  const double begin = processor_time();
  work();
  return processor_time() - begin;
}

double median_of(int times, const std::function<void()>& work) {
  std::vector<double> all;
  for (int i = 0; i < times; ++i) all.push_back(nanoseconds(work));
  std::nth_element(all.begin(), all.begin() + times / 2, all.end());
  return all[static_cast<std::size_t>(times / 2)];
}

std::optional<Program> read(const std::string& path) {
  std::ifstream stream(path);
  std::stringstream text;
  text << stream.rdbuf();
  auto source = std::make_shared<const allot::lang::Source>(path, text.str());
  allot::lang::Diagnostics diagnostics;
  std::optional<Program> program = allot::lang::check(source, diagnostics);
  if (!program) std::fputs(allot::lang::render_all(diagnostics, *source).c_str(), stderr);
  return program;
}

// The allocation decision of the comparison with other languages: stop a collapsed group, a sequential test, else the
// posterior variance against the cost of another rollout. Reads: turn, distance, hits, misses, cost.
Program allocation_policy() {
  Builder b;
  const Type real = type(Base::Real);
  const Type truth = type(Base::Bool);
  const NodeId t = b.read(type(Base::Int)), d = b.read(real), s = b.read(type(Base::Int)), f = b.read(type(Base::Int)),
               cost = b.read(real);
  const auto to_real = [&](NodeId of) { return b.add(Op::ToReal, real, {of}); };
  const auto both = [&](Op op, NodeId x, NodeId y) { return b.add(op, real, {x, y}); };
  const auto test = [&](Op op, NodeId x, NodeId y) { return b.add(op, truth, {x, y}); };
  const NodeId collapsed = b.add(Op::And, truth, {test(Op::GreaterEqual, t, b.integer(8)),
                                                  test(Op::Less, d, both(Op::Multiply, b.real(0.15), to_real(t)))});
  const int llr = b.let(both(Op::Add, both(Op::Multiply, to_real(s), b.real(0.6931471805599453)),
                             both(Op::Multiply, to_real(f), b.real(-1.0986122886681098))));
  const int n = b.let(both(Op::Add, both(Op::Add, to_real(s), to_real(f)), b.real(2)));
  const NodeId product = both(Op::Multiply, both(Op::Add, to_real(s), b.real(1)), both(Op::Add, to_real(f), b.real(1)));
  const NodeId cube = both(Op::Multiply, both(Op::Multiply, b.use(n), b.use(n)), both(Op::Add, b.use(n), b.real(1)));
  b.rule(collapsed);
  b.rule(test(Op::GreaterEqual, b.use(llr), b.real(2.89)));
  b.rule(test(Op::LessEqual, b.use(llr), b.real(-2.25)));
  b.rule(test(Op::Less, both(Op::Multiply, both(Op::Divide, product, cube), b.real(16)), cost));
  b.rule(-1);
  b.program.name = "allocation";
  return std::move(b.program);
}

// ns a decision, the best of five runs over 1,000 frames.
double decision(const Executable& executable, const Program& program, const std::vector<std::vector<Cell>>& frames) {
  const Memory memory = blank(program, 8);
  Scratch scratch;
  std::vector<Cell> holes(16), reports(program.reports.size());
  std::vector<std::uint8_t> flags(program.reports.size() + program.warnings.size());
  Outcome outcome;
  outcome.holes = holes.data();
  outcome.reports = reports.data();
  outcome.report_written = flags.data();
  outcome.warned = flags.data() + program.reports.size();
  Frame frame{memory.parameters.data(), nullptr, nullptr, memory.sizes.data(), nullptr, &scratch};
  long sum = 0;
  double best = 1e300;
  for (int run = 0; run < 5; ++run) {
    const double time = nanoseconds([&] {
      for (int round = 0; round < 100; ++round) {
        for (const auto& reads : frames) {
          frame.reads = reads.data();
          executable.decide(0, frame, outcome);
          sum += outcome.rule;
        }
      }
    });
    best = std::min(best, time / (100.0 * static_cast<double>(frames.size())));
  }
  std::printf("    %8.1f ns a decision (sum of rules %ld)\n", best, sum);
  return best;
}

void bench(const char* name, const Program& program, const std::vector<std::vector<Cell>>& frames) {
  std::printf("%s\n", name);
  std::unique_ptr<Executable> evaluator, plain, full;
  std::printf("  evaluator, made in %.1f us\n", median_of(51, [&] { evaluator = evaluate(program); }) / 1e3);
  const double slow = decision(*evaluator, program, frames);
  const auto made = [&](std::unique_ptr<Executable>& into, Optimize level) {
    auto result = compile(program, level);
    if (!result) {
      std::fprintf(stderr, "%s\n", result.error().text().c_str());
      std::exit(1);
    }
    into = std::move(*result);
  };
  std::printf("  O0, first compile %.2f ms", nanoseconds([&] { made(plain, Optimize::None); }) / 1e6);
  std::printf(", then %.2f ms\n", median_of(21, [&] { made(plain, Optimize::None); }) / 1e6);
  const double unoptimised = decision(*plain, program, frames);
  std::printf("  Full, first compile %.2f ms", nanoseconds([&] { made(full, Optimize::Full); }) / 1e6);
  std::printf(", then %.2f ms\n", median_of(21, [&] { made(full, Optimize::Full); }) / 1e6);
  const double optimised = decision(*full, program, frames);
  std::printf("  evaluator / O0 %.1f, evaluator / Full %.1f\n\n", slow / unoptimised, slow / optimised);
}

}  // namespace

int main() {
  std::vector<std::vector<Cell>> allocation, distances;
  for (int i = 0; i < 1000; ++i) {
    allocation.push_back({Cell::of(std::int64_t{i % 30}), Cell::of(0.01 * (i % 97)), Cell::of(std::int64_t{i % 5}),
                          Cell::of(std::int64_t{i % 7}), Cell::of(0.05 * (i % 11))});
    distances.push_back({i % 10 == 0 ? Cell::undefined() : Cell::of(0.001 * (i % 300))});
  }
  const std::string path = ALLOT_SOURCE_DIR "/stdlib/selective_rollout.allot";
  std::optional<Program> program;
  const double parsed = median_of(21, [&] { program = read(path); });
  if (!program) return 1;
  const double first = nanoseconds([&] {
    const auto fresh = read(path);
    const auto evaluator = evaluate(*fresh);
    const Answer answer = [&] {
      Scratch scratch;
      return ask(*evaluator, *fresh, blank(*fresh, 4), scratch);
    }();
    if (answer.outcome.rule < 0) std::puts("no rule");
  });
  std::printf("text to program %.2f ms, text to first decision by the evaluator %.2f ms\n\n", parsed / 1e6,
              first / 1e6);
  bench("selective_rollout", *program, distances);
  bench("allocation policy", allocation_policy(), allocation);
}
