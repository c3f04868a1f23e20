#include "tests/compiler/harness.h"

#include <stdexcept>

namespace allot::compiler::test {
namespace {

std::unique_ptr<Executable> compiled(const Program& program, Optimize level) {
  auto result = compile(program, level);
  if (!result) throw std::runtime_error(result.error().text() + "\n" + text(program));
  return std::move(*result);
}

}  // namespace

Engines::Engines(const Program& program) : Engines(program, program) {}

Engines::Engines(const Program& program, const Program& other)
    : program_(program), evaluator_(evaluate(program)), plain_(compiled(other, Optimize::None)),
      full_(compiled(other, Optimize::Full)) {}

std::string Engines::difference(std::uint64_t seed, const std::function<void(const Answer&)>& see) const {
  const Memory memory = random_memory(program_, seed);
  const std::size_t cells = random_scratch(seed);
  Scratch first(cells), second(cells), third(cells);
  const Answer expected = ask(*evaluator_, program_, memory, first);
  const Answer plain = ask(*plain_, program_, memory, second);
  const Answer full = ask(*full_, program_, memory, third);
  if (see) see(expected);
  if (plain == expected && full == expected) return {};
  return text(program_) + text(memory) + "scratch " + std::to_string(cells) + "\nevaluator: " + text(expected) +
         "O0:        " + text(plain) + "Full:      " + text(full);
}

}  // namespace allot::compiler::test
