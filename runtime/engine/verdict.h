// A rule's answer with its operands put in: what the engine carries out, a test compares and the journal keeps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lang/program.h"
#include "runtime/engine/question.h"

namespace allot::engine {

struct Verdict {
  lang::RolloutsField rollouts = lang::RolloutsField::Default;
  bool start = false;                  // the answer of `size`: amounts and up_tos are those of `start N each, up to M`
  std::vector<std::int64_t> amounts;   // N: one, or one a prompt; of `wave of batch` one a group, of `expand` one an anchor
  std::vector<std::int64_t> up_tos;    // M of `start N each, up to M`: none, one, or one a prompt
  std::vector<int> stopped;            // samples of `stop where`, ascending
  lang::GroupField group = lang::GroupField::Default;
  std::optional<std::vector<int>> subset;  // samples of `train SUBSET`, ascending, each once
  lang::Normalize normalize = lang::Normalize::Default;
  lang::SlotField slot = lang::SlotField::Default;
  lang::PromptField prompt = lang::PromptField::Default;
  std::optional<std::int64_t> age_limit;   // iterations: of `defer`, of `replay`
  // Epochs of `evict until`: one; at `epoch` one for each of `evicted`.
  std::vector<std::int64_t> untils;
  std::vector<int> evicted;                // positions over Pool, ascending: `evict where` at `epoch`
  bool readmits = false;
  std::vector<int> readmitted;             // positions over Known, ascending: `readmit where` at `epoch`
  lang::Take take = lang::Take::None;
  std::vector<int> taken;                  // positions over Pool, ascending: `take where`
  std::vector<std::optional<double>> scores;        // of `take … by` over Pool, of `replay … by` over Stored
  std::optional<double> reward;                     // `set reward`
  std::optional<double> loss;                       // `set loss`
  std::optional<double> slope;                      // of it, in `t.logprob`
  std::optional<std::vector<std::optional<double>>> advantages;   // `set advantages`: one a rollout
  bool by_turn = false;                             // … or one a turn, of all rollouts of the group
  std::optional<std::vector<std::optional<double>>> weights;
  std::optional<std::vector<std::optional<double>>> baselines;    // `set baseline`: one, or one a rollout
  std::vector<double> keys;                         // of `resume … by KEYS`; there without a rule too
  lang::Point point = lang::Point::Eval;  // whose rule it is
  int rule = -1;                       // -1: no rule held, or a fault
  std::string where;                   // "file:line" of the rule; empty without one
  std::string reason;                  // rendered
  // By hole of the reason, the names of those that are prompts; empty where none is.
  std::vector<std::optional<std::string>> names;

  std::int64_t amount(std::size_t prompt = 0) const;
  std::optional<std::int64_t> up_to(std::size_t prompt = 0) const;
};

// `prompts` gives the texts of prompt positions in holes.
Verdict resolve(const lang::Program& program, const lang::Handler& handler, const Answer& answer,
                const std::vector<std::string>& prompts);

std::string place_of(const lang::Program& program, lang::Span span);
std::string place_of(const lang::Program& program, const lang::Rule& rule);  // of all rules that it stands for
std::string place_of(const lang::Program& program, const lang::Handler& handler, std::int32_t node);
std::string render(const std::vector<lang::MessagePart>& parts, const lang::Handler& handler,
                   const std::vector<lang::Cell>& holes, const std::vector<std::string>& prompts);

// "stop, drop, refill": the fields that are set, as an author writes them.
std::string words(const Verdict& verdict);
std::string words(const lang::VerdictTemplate& verdict, lang::Point point);
std::string_view words(compiler::FaultKind fault);

}  // namespace allot::engine
