// allot audit: every decision of a run, asked once more from what it had read.
#include <fmt/core.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "lang/unicode.h"
#include "runtime/cli/command.h"
#include "runtime/cli/run_folder.h"
#include "runtime/engine/auditing.h"

namespace allot::cli {

namespace {

using Json = nlohmann::ordered_json;

struct AuditOptions {
  std::string run;
  std::vector<std::string> kept;
  bool json = false;
};

Json to_json(const engine::Difference& difference) {
  return {{"place", difference.place},         {"iteration", difference.iteration}, {"group", difference.group},
          {"sample", difference.sample},       {"turn", difference.turn},           {"point", difference.point},
          {"policy", difference.policy},       {"member", difference.member},       {"recorded", difference.recorded},
          {"again", difference.again}};
}

Json to_json(const engine::AuditResult& result) {
  return {{"audited", result.audited},
          {"differing", result.differing},
          {"damaged", result.damage.size()},
          {"iterations", result.iterations},
          {"versions", result.versions},
          {"loss_tokens", result.loss_tokens},
          {"loss_iterations", result.loss_iterations},
          {"cut_lines", result.cut_lines},
          {"unsummed_lines", result.unsummed},
          {"unchained_resumes", result.unchained},
          {"states", result.states},
          {"from", result.from},
          {"sum", result.sum},
          {"first", result.first ? to_json(*result.first) : Json()},
          {"damage", result.damage}};
}

constexpr std::size_t most_shown = 400;  // characters of a value

std::string shortened(const std::string& text) {
  return lang::shown_in_line(text.size() <= most_shown ? text : text.substr(0, most_shown)) +
         (text.size() <= most_shown ? "" : "…");
}

void print(const engine::Difference& first) {
  std::string about = first.group < 0 ? "the batch" : fmt::format("group {}", first.group);
  if (first.sample >= 0) about += fmt::format(", rollout {}", first.sample);
  fmt::print("first difference: {}: iteration {}, {}, {} (policy {})\n    {} was recorded as {}\n    asked again it is {}\n",
             first.place, first.iteration, about, first.point, first.policy.substr(0, 12), first.member,
             shortened(first.recorded), shortened(first.again));
}

std::string count(std::int64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

void print(const engine::AuditResult& result) {
  fmt::print("{} of {} asked again: {}\n", count(result.audited, "decision"), count(result.iterations, "iteration"),
             result.differing == 0 ? "all agree" : fmt::format("{} differ", result.differing));
  if (result.versions > 1) fmt::print("{} versions of the policy decided, each its own\n", result.versions);
  if (result.loss_iterations > 0) {
    fmt::print("not asked again: the loss of {} in {}; the journal has how often each rule answered, not the tokens\n",
               count(result.loss_tokens, "token"), count(result.loss_iterations, "iteration"));
  }
  if (result.first) print(*result.first);
  for (const std::string& damage : result.damage) fmt::print("damage: {}\n", damage);
  if (!result.damage.empty()) fmt::print("`allot replay --journal` tells which value it was, where the events are sound\n");
  if (result.cut_lines > 0) fmt::print("{} cut off by the end of a process: nothing that was acknowledged\n", count(result.cut_lines, "line"));
  if (result.unchained > 0) {
    fmt::print("note: {} of an older program: sums begin anew there, so nothing tells what was changed before\n",
               count(result.unchained, "resume"));
  }
  if (!result.from.empty()) fmt::print("the run went on from another folder's, which ended with the sum {}\n", result.from);
  if (result.states == 0 && result.iterations > 0) {
    fmt::print("note: no saved state beside the journal tells where it ended, so nothing tells what was cut off its end\n");
  }
  if (!result.sum.empty()) fmt::print("sum of the journal: {}\n", result.sum);
}

// Half a sum, or an empty one, would say less than it seems to.
std::string is_sum(const std::string& text) {
  const bool good = text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
  return good ? "" : fmt::format("a whole sum has 64 digits; this is \"{}\"", text);
}

Exit audit(const AuditOptions& options) {
  const auto folder = journal_folder(options.run);
  if (!folder) return complain(folder.error()), Exit::Misuse;
  const auto result = engine::audit_run(*folder, options.kept);
  if (!result) return complain(result.error()), Exit::Misuse;
  options.json ? fmt::print("{}\n", to_json(*result).dump()) : print(*result);
  return result->good() ? Exit::Good : Exit::Failed;
}

}  // namespace

void add_audit(CLI::App& app, Exit& exit) {
  auto options = std::make_shared<AuditOptions>();
  CLI::App* command = app.add_subcommand("audit", "Ask every decision of a run again from what it had read");
  command->add_option("RUN", options->run, "a run folder, or the folder of one of its arms")->required();
  command->add_option("--kept", options->kept, "a sum that this command told earlier, which the run must still have; may be repeated")
      ->check(is_sum)
      ->type_name("SUM")
      ->allow_extra_args(false);
  command->add_flag("--json", options->json, "one JSON object");
  command->footer(
      "Each decision is asked of the version that made it, from its record alone, and must come out the same to the last\n"
      "bit. Each line has a checksum, and the end of each iteration, and the beginning of each process, a sum over all lines\n"
      "before it, which a changed or missing line or segment breaks. Keep the last sum elsewhere, and nobody can rewrite the\n"
      "run unseen: --kept tells whether a run that has gone on still has it.\n"
      "example:\n  allot audit runs/household-1\n"
      "exit status: 0 all agree, 1 a difference or damage, 2 a folder that is no run, or one that cannot be asked");
  command->callback([options, &exit] { exit = audit(*options); });
}

}  // namespace allot::cli
