// Mistakes that nobody but emitted code makes, for the sanitizer of the build to find: the host's side of each touches
// nothing that it may not. Whoever runs this looks for the report; without one the sanitizer does not see emitted code.
//
//   emitted_faults race optimised|plain      two threads remember into one state
//   emitted_faults apart optimised|plain     … each into its own
//   emitted_faults overrun optimised|plain   a handler of two reads is given one
//   emitted_faults rows                      … as a batch, which reads eight rows at a time
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "compiler/batch.h"
#include "tests/compiler/builder.h"

using namespace allot::compiler;
using namespace allot::compiler::test;
namespace lang = allot::lang;

namespace {

template <typename T>
T made(allot::Result<T> result) {
  if (result) return *std::move(result);
  std::fprintf(stderr, "emitted_faults: %s\n", result.error().text().c_str());
  std::exit(2);
}

// remember seen = seen + 1
Program counting() {
  Builder b;
  const int seen = b.state(type(Base::Int), lang::StateScope::Group);
  lang::Effect effect;
  effect.kind = lang::EffectKind::Remember;
  effect.index = seen;
  effect.value = b.add(Op::Add, type(Base::Int), {b.add(Op::State, type(Base::Int), {}, seen), b.integer(1)});
  b.handler().effects.push_back(effect);
  return std::move(b.program);
}

// x < y, of two reads.
Program comparing() {
  Builder b;
  const NodeId x = b.read(type(Base::Real)), y = b.read(type(Base::Real));
  b.rule(b.add(Op::Less, type(Base::Bool), {x, y}));
  return std::move(b.program);
}

// The threads share nothing but the state that is remembered, and that only where they are to.
int race(Optimize level, bool together) {
  const Program program = counting();
  const auto code = made(compile(program, level));
  const std::vector<Cell> before{Cell::of(std::int64_t{1})};
  std::vector<Cell> after(2, before.front());
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&, own = together ? 0 : i] {
      Scratch scratch;
      const std::vector<std::int64_t> sizes(lang::scope_count, 0);
      const StateView state{before.data(), after.data() + own, 1};
      Frame frame;
      frame.scope_sizes = sizes.data();
      frame.states = &state;
      frame.scratch = &scratch;
      Outcome outcome;
      for (int round = 0; round < 1000; ++round) code->decide(0, frame, outcome);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return after.front() == Cell::of(std::int64_t{2}) ? 0 : 2;
}

int overrun(Optimize level) {
  const Program program = comparing();
  const auto code = made(compile(program, level));
  const std::vector<Cell> reads{Cell::of(1.0)};  // one too few
  Scratch scratch;
  const std::vector<std::int64_t> sizes(lang::scope_count, 0);
  Frame frame;
  frame.reads = reads.data();
  frame.scope_sizes = sizes.data();
  frame.scratch = &scratch;
  Outcome outcome;
  code->decide(0, frame, outcome);
  return 0;
}

int rows() {
  const Program program = comparing();
  BatchShape shape;
  shape.reads = {{ColumnKind::Real64, false}, {ColumnKind::Real64, false}};
  const auto batch = made(compile_batch(program, 0, shape));
  if (!batch->vectorised()) return 2;
  constexpr std::size_t count = 64;
  const std::vector<double> x(count, 1.0), y(count - 8, 2.0);  // eight rows too few
  const Facts facts[] = {{x.data(), nullptr}, {y.data(), nullptr}};
  std::vector<std::int8_t> told(count);
  BatchOutcome outcome;
  outcome.rules = told.data();
  batch->decide({count, nullptr, facts, nullptr, nullptr, nullptr}, outcome);
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string what = count > 1 ? arguments[1] : "";
  const Optimize level = count > 2 && std::string(arguments[2]) == "plain" ? Optimize::None : Optimize::Full;
  if (what == "race" || what == "apart") return race(level, what == "race");
  if (what == "overrun") return overrun(level);
  if (what == "rows") return rows();
  std::fprintf(stderr, "emitted_faults: race, apart, overrun or rows?\n");
  return 2;
}
