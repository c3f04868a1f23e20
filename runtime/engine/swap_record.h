// Swaps in the journal.
#pragma once

#include <map>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "runtime/engine/swap.h"
#include "runtime/engine/swap_state.h"
#include "runtime/engine/version.h"

namespace allot::engine {

// {"k": "swap", …}: a request and its outcome.
std::string swap_record(const SwapReport& report);
// … of one that stands in the state from which a run goes on: "again" says so, and a replay does not make it anew.
std::string swap_told_again(const SwapReport& report);
// {"k": "adopt", …}: a group goes on under another version; the numbers are those of the versions.
std::string adopt_record(int iteration, int group, int from, int to, StatePlan::Carried state);

// Either of these in words.
std::string swap_words(const nlohmann::ordered_json& record);

// What a version decided, by the metrics' names: "version/3/decisions", "version/3/rule/12", …
enum class Zeros { Told, LeftOut };
void add_version_metrics(std::map<std::string, double>& metrics, const Version& version, Zeros zeros);

}  // namespace allot::engine
