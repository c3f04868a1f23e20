// What client and server say to each other, as JSON. Events are written and read as in the journal
// (engine/event_log.h).
//
//   greeting  {"allot":3,"client":ID,"seen":M}        answered by {"allot":3,"engine":ID,"last":N}, or by an error
//   request   {"q":N,"seen":M,"call":"events",…}      N counts the requests of a client
//   answer    {"m":M,"q":N,"orders":{…},…}            M counts what was sent to a client
//   orders    {"m":M,"orders":{…}}                    unasked, since somebody else's event led to them
//   seen      {"seen":M}                              everything up to M has come
//   goodbye   {"bye":true}
//
// Either side keeps what it sent until it knows that it came, and sends it again over a new connection; either side
// knows by N and M what it had already. So every event counts once, and every order comes once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "common/result.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/event_log.h"
#include "runtime/engine/json_text.h"
#include "runtime/engine/swap.h"
#include "runtime/remote/loss_messages.h"

namespace allot::remote {

constexpr int protocol = 3;

enum class Ask {
  Seen,
  Bye,
  Events,
  Drive,
  Begin,
  End,
  Preview,
  Unused,
  Pool,
  Save,
  Restore,
  About,
  Swap,     // answered by its ticket, before it is carried out
  Outcome,  // of a ticket
  Loss,
  Tally     // of tokens that were asked about
};
std::string_view name(Ask ask);

// What a client sends.
struct Request {
  std::uint64_t number = 0;  // 0: expects no answer
  std::uint64_t seen = 0;
  Ask ask = Ask::Seen;
  engine::LoggedIteration events;            // Events; the prompts of Begin
  int iteration = 0;                         // Begin, Tally
  std::vector<engine::PoolPrompt> pool;      // Pool
  std::vector<engine::RolloutRef> rollouts;  // Drive
  std::string state;                         // Restore
  engine::SwapRequest swap;                  // Swap
  int ticket = 0;                            // Outcome
  std::string known_policy;                  // Loss: hash of the one that the client has; may be empty
  std::string loss;                          // Tally: LossParts::number
  engine::LossTally tally;                   // Tally
};

struct Greeting {
  int protocol = 0;
  std::string client;
  std::uint64_t seen = 0;
};

struct Welcome {
  std::string engine;      // another one than before: nothing of what was under way is known to it
  std::uint64_t last = 0;  // the highest number of this client's requests that it has
  std::optional<Error> refused;
};

// What is fixed between two events, for those who cannot look.
struct About {
  std::string policy_name;
  engine::ActiveVersion active;
  bool gram = false, embeddings = false, shapes_groups = false, shapes_micro_batches = false;
  int replay_age = 0, saved_change = 0;
  double seconds_spent = 0;
};

struct Answer {
  std::uint64_t serial = 0;  // M
  std::uint64_t number = 0;  // N; 0: orders that came unasked
  engine::Orders orders;
  std::optional<Error> error;
  std::optional<engine::IterationReport> report;
  std::optional<engine::Shaped> shaped;
  std::optional<About> about;
  std::vector<std::string> prompts;
  std::string state;
  int ticket = 0;                          // of a swap that was taken
  std::optional<engine::SwapReport> swap;  // what came of one; without a ticket where nothing is known
  std::optional<LossParts> loss;
};

// All of these throw std::exception where the text has another form, or a number that no event can have: whoever sends
// such a text is not one of ours. But an answer whose orders can be read is one, with an error in place of what it
// answers: whoever asked is told, and it is not sent again.
Greeting read_greeting(std::string_view text);
Welcome read_welcome(std::string_view text);
Request read_request(std::string_view text);
Answer read_answer(std::string_view text);

std::string to_text(const Greeting& greeting);
std::string to_text(const Welcome& welcome);
std::string to_text(const Answer& answer);

// Opens a request, to which the caller may add members before it closes the object.
void begin_request(engine::JsonText& text, std::uint64_t number, std::uint64_t seen, Ask ask);
// Of the calls Swap and Tally.
void put_request(engine::JsonText& text, const engine::SwapRequest& request);
// `loss`: its number.
void put_request(engine::JsonText& text, const std::string& loss, std::int64_t iteration,
                 const engine::LossTally& tally);

}  // namespace allot::remote
