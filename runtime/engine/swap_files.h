// How another process asks a run for a swap: files in the run folder, each put there whole by a rename, so that it works
// on any filesystem and over the end of either process. Requests and answers are synced, so that what was accepted
// outlives a loss of power too; what is written anew all the time, or is not missed, is not.
//
//   swap/alive.json            who serves requests, with a number that grows while it does, and which version is active; it
//                              stays when that ends, since what was accepted is active again in the resumed run
//   swap/requests/ID.json      a request; who asked may take it back, until it is
//   swap/requests/ID.taken     one that is carried out; it goes once a resumed run would know of its outcome by itself
//   swap/answers/ID.json       its outcome
//   swap/watched.json          the file that is followed, and the text of it that was taken up last
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "common/result.h"
#include "runtime/engine/disk.h"
#include "runtime/engine/swap.h"

namespace allot::engine {

struct SwapFiles {
  std::filesystem::path folder;
  explicit SwapFiles(const std::filesystem::path& run) : folder(run / "swap") {}
  std::filesystem::path alive() const { return folder / "alive.json"; }
  std::filesystem::path requests() const { return folder / "requests"; }
  std::filesystem::path request(const std::string& id) const { return requests() / (id + ".json"); }
  std::filesystem::path taken(const std::string& id) const { return requests() / (id + ".taken"); }
  std::filesystem::path watched() const { return folder / "watched.json"; }
  std::filesystem::path answer(const std::string& id) const { return folder / "answers" / (id + ".json"); }
};

std::string to_text(const SwapRequest& request);
Result<SwapRequest> swap_request_from(const std::string& text);
std::string to_text(const SwapReport& report);
std::optional<SwapReport> swap_report_from(const std::string& text);

struct Beat {
  static constexpr std::int64_t nobody = 0;  // no process has this number
  std::string host;
  std::int64_t process = nobody;
  std::int64_t count = 0;
  std::string policy;  // hash of the active version
  int version = 0;
  std::map<std::string, std::string> parameters = {};  // of it, as they were given
  int segment = 0;  // the last of the journal by then, which tells it from later processes; 0: there is none
};
std::string to_text(const Beat& beat);
std::optional<Beat> beat_from(const std::string& text);
std::string host_name();

// So that a change is noticed that was made while nobody looked.
struct Watched {
  std::string file;  // as it was named
  std::string hash;  // SHA-256 of the text
};
std::string to_text(const Watched& watched);
std::optional<Watched> watched_from(const std::string& text);

// Names a request; sorts by the time of asking.
std::string fresh_request_id();

// Puts the request into the folder of a run that serves them, and waits for what came of it. An error: nobody serves
// them, or no answer came in time; the request is then taken back, or where the run has it
// already the error says so.
// `interrupt`: once it is true no more is waited.
Result<SwapReport> ask_for_swap(const std::filesystem::path& run, const SwapRequest& request, double seconds,
                                const std::atomic<bool>* interrupt = nullptr);
// What the run tells of itself; an error where nobody serves requests.
Result<Beat> who_serves(const std::filesystem::path& run);

}  // namespace allot::engine
