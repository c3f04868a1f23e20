// Another policy for a run under way: what is asked for, and what came of it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/engine/policy_text.h"

namespace allot::engine {

class Policy;

// After a rollback: what is remembered now, or what was remembered when the version was replaced.
enum class StateOf { Now, Then };

struct SwapRequest {
  PolicyText text;                                // what comes; not looked at where `policy` or `back` is set
  std::shared_ptr<Policy> policy;                 // … loaded already
  std::optional<StateOf> back;                    // the version before the active one
  std::map<std::string, std::string> parameters;  // --set name=value, beside those that the active version has
  // Of the active version: its number, as "v3", or its content hash (SHA-256), or the first eight or more digits of that,
  // which tells nothing of parameters. Empty: whatever is active.
  std::string expected;
  bool now = false;   // groups that run take the new version too, where what they keep allows it
  double canary = 0;  // above 0: that share (below 1) of the groups, or of the iterations where groups are ranked
  // Somebody wants just this text. Else, as of a file that is followed, it may be half of one: where handlers, memory or
  // budgets of the active version are not in it, it is refused.
  bool confirmed = true;
  std::string by = "swap";  // who asks, for the journal: "swap", "watch", …
  std::string id;           // of a request that may come again after a resume; empty: it cannot
  int ticket = 0;           // of Engine::announce_swap(); 0: one is taken when the request comes
};

enum class SwapOutcome {
  Active,      // decides from here on
  Waiting,     // accepted; takes over at the end of the iteration
  Canary,      // decides about its share
  Unchanged,   // the same text is active already, with the same values of its parameters
  Refused,     // nothing was changed
  Superseded   // a later request came before it could take over
};
std::string_view name(SwapOutcome outcome);  // "active", "waiting", …

// What becomes of the state, by name.
struct StateChanges {
  std::vector<std::string> kept, migrated, started, dropped;
};

struct SwapReport {
  int ticket = 0;          // counts requests
  SwapOutcome outcome = SwapOutcome::Refused;
  std::string from, to;    // content hashes; `to` is empty where the text could not be read as a policy
  std::map<std::string, std::string> parameters;  // that came with it; of a rollback, those that the version before had
  int version = 0;         // number of the active one, or of the canary; 0 while it waits, and where it was refused
  int change = 0;          // counts changes of the versions, a canary and its end too; 0 where there was none
  int iteration = 0;       // from which it decides, or in which it was refused
  std::string by;
  std::string reason;      // why it was refused, or why it waits
  StateChanges state;
  int groups_moved = 0;    // that took the new version while they ran or waited
  int groups_restarted = 0;  // … and whose own state had to begin anew
  double seconds = 0;      // from the request to this outcome
  // As it was asked for, so that the journal can be played again.
  bool now = false;
  double canary = 0;
  std::optional<StateOf> back;
};

// Who decides.
struct ActiveVersion {
  int number = 0;
  std::string hash;  // empty: there is no policy
  std::map<std::string, std::string> parameters = {};  // what was given for them
};

// "dd4508816dd1", or "dd4508816dd1 with least = 0.7" where parameters are given.
std::string policy_words(const std::string& hash, const std::map<std::string, std::string>& parameters);
// Whether SwapRequest::expected names a version by its number.
bool is_version_number(std::string_view text);

}  // namespace allot::engine
