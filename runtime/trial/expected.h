// The verdict that a test expects, and how an answer differs from it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/result.h"
#include "lang/program.h"
#include "runtime/engine/verdict.h"

namespace allot::trial {

struct Expected {
  engine::Verdict verdict;              // `reason` set where the test gives one
  bool with_reason = false;
};

// Amounts may be literals or parameters.
Result<Expected> read_expected(const lang::Program& program, const std::vector<lang::Cell>& parameters,
                               const lang::tree::Verdict& verdict);

// A field that is left out is the default of the point: `continue` while rollouts run, `train`, `leave`.
bool matches(const Expected& expected, const engine::Verdict& got, lang::Point point);

// Decimal fractions of a test are rounded where they are read, computed ones where they are computed: equal to 1e-9, of the
// larger where that is above 1.
bool near(double a, double b);

// Whether two verdicts agree in their prompt field and in what points answer beside the four fields; numbers to 1e-9.
bool same_answer(const engine::Verdict& a, const engine::Verdict& b);

// "train [5], normalize over group": what decisions do, with the samples meant.
std::string describe_actions(const engine::Verdict& verdict);

// "stop, drop because …"
std::string describe(const engine::Verdict& verdict);

}  // namespace allot::trial
