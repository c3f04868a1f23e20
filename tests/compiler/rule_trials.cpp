#include "tests/compiler/rule_trials.h"

namespace allot::compiler::test {
namespace {

constexpr std::uint64_t frames = 48;
constexpr int attempts = 24;

}  // namespace

RuleTrials::RuleTrials(const Program& program, std::uint64_t seed, MakeMemory make) {
  for (std::uint64_t frame = 0; frame < frames; ++frame) {
    frames_.push_back(make(program, frame_seed(seed, frame)));
    scratch_.push_back(random_scratch(frame_seed(seed, frame)));
  }
}

RuleTrials::Tally RuleTrials::ask(const Program& program, int rule) {
  Tally tally;
  const auto evaluator = evaluate(program);
  for (std::size_t frame = 0; frame < frames_.size(); ++frame) {
    Scratch scratch(scratch_[frame]);
    const Question question(program, program.handlers.front(), frames_[frame], scratch);
    Outcome outcome;
    evaluator->decide(0, question.frame, outcome);
    if (outcome.fault != FaultKind::None && outcome.rule < 0) continue;
    tally.answered += outcome.rule == rule && rule >= 0;
    tally.left += outcome.rule < 0;
  }
  return tally;
}

void RuleTrials::add(Program& program, bool others_follow, const std::function<void()>& write) {
  const Handler before = program.handlers.front();
  for (int attempt = 1;; ++attempt) {
    write();
    const Tally tally = ask(program, static_cast<int>(before.rules.size()));
    const bool fine = tally.answered > 0 && (!others_follow || tally.left >= 4);
    if (fine || attempt == attempts) return;
    program.handlers.front() = before;
  }
}

}  // namespace allot::compiler::test
