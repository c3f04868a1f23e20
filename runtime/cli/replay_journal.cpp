// allot replay --journal: the events of a run go through an engine once more.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "lang/unicode.h"
#include "runtime/cli/command.h"
#include "runtime/cli/replay_journal.h"
#include "runtime/cli/run_folder.h"
#include "runtime/engine/replaying.h"

namespace allot::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_shown = 400;  // characters of a value

std::string shortened(const std::string& text) {
  return lang::shown_in_line(text.size() <= most_shown ? text : text.substr(0, most_shown)) +
         (text.size() <= most_shown ? "" : "…");
}

Json to_json(const engine::ReplayResult& result) {
  Json first;
  if (result.first) {
    first = {{"place", result.first->place},   {"iteration", result.first->iteration}, {"kind", result.first->kind},
             {"member", result.first->member}, {"recorded", result.first->recorded},   {"replayed", result.first->replayed}};
  }
  return {{"iterations", result.iterations}, {"events", result.events},
          {"records", result.records},       {"differing", result.differing},
          {"damaged", result.damage.size()}, {"unfinished", result.unfinished},
          {"swaps", result.swaps},           {"swapped", result.swapped},       {"first", std::move(first)},       {"damage", result.damage}};
}

void print(const engine::ReplayResult& result) {
  const std::string swaps = result.swaps == 0 ? "" : fmt::format(" and {} swap{}", result.swaps, result.swaps == 1 ? "" : "s");
  fmt::print("{} iterations played again from {} events{}: {} records, {}\n", result.iterations, result.events, swaps, result.records,
             result.differing == 0 ? "all the same" : fmt::format("{} differ", result.differing));
  if (result.first) {
    const engine::ReplayDifference& first = *result.first;
    const std::string what = first.member.empty() ? "the record" : fmt::format("{} of the record `{}`", first.member, first.kind);
    fmt::print("first difference: {}: iteration {}, {}\n    recorded  {}\n    replayed  {}\n", first.place, first.iteration, what,
               shortened(first.recorded), shortened(first.replayed));
  }
  if (!result.swapped.empty()) {
    fmt::print("{}: the policy was swapped here, and this journal does not tell at which event; from here on nothing is played "
               "again (`allot audit` covers every version)\n", result.swapped);
  }
  for (const std::string& damage : result.damage) fmt::print("damage: {}\n", damage);
  if (result.unfinished > 0) fmt::print("{} iterations were cut off by the end of a process and left out\n", result.unfinished);
}

}  // namespace

Exit replay_journal(const std::string& run, bool json) {
  const auto folder = journal_folder(run);
  if (!folder) return complain(folder.error()), Exit::Misuse;
  const auto result = engine::replay_run(*folder);
  if (!result) return complain(result.error()), Exit::Misuse;
  json ? fmt::print("{}\n", to_json(*result).dump()) : print(*result);
  return result->differing == 0 && result->damage.empty() ? Exit::Good : Exit::Failed;
}

}  // namespace allot::cli
