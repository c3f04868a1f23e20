// The side that asks for a swap.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "runtime/engine/journal.h"
#include "runtime/engine/swap_files.h"

namespace allot::engine {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto silence = 10s;  // without a beat for so long, nobody serves requests any more
// Most answers come at once; one that waits for the end of the iteration takes its time.
Clock::duration pause_between_looks(Clock::duration waited) { return waited < 200ms ? 1ms : 10ms; }

Error nobody(const fs::path& run, const std::string& why) {
  return Error{fmt::format("The run {} is not alive: {}.", run.string(), why),
               "requests are served while `allot train` or `allot serve` runs, and one that has ended is resumed with --resume; where the "
               "trainer holds the engine itself, it swaps it: engine.swap(FILE) and engine.roll_back() in Python"};
}

// It may be stopped, or its machine: whether it has ended is not known.
Error silent(const fs::path& run, const Beat& beat) {
  return nobody(run, fmt::format("its process {}{} gave no sign for {} s", beat.process,
                                 beat.host == host_name() ? "" : " on " + beat.host, std::chrono::seconds(silence).count()));
}

// None where nobody serves requests, or not any more.
std::optional<Beat> read_beat(const SwapFiles& files) {
  const auto text = read_whole(files.alive());
  auto beat = text ? beat_from(*text) : std::nullopt;
  if (beat && beat->process == Beat::nobody) beat.reset();
  return beat;
}

bool runs_here(const Beat& beat) {
  return beat.host == host_name() && (::kill(static_cast<pid_t>(beat.process), 0) == 0 || errno == EPERM);
}

}  // namespace

std::string fresh_request_id() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return fmt::format("{:020}-{}", std::chrono::duration_cast<std::chrono::nanoseconds>(now).count(), ::getpid());
}

Result<Beat> who_serves(const fs::path& run) {
  const SwapFiles files(run);
  const auto beat = read_beat(files);
  if (!beat) return nobody(run, "nobody has announced to serve requests there");
  if (runs_here(*beat)) return *beat;
  if (beat->host == host_name()) return nobody(run, fmt::format("its process {} has ended", beat->process));
  // Of another machine only its beat can be seen.
  for (const auto until = Clock::now() + silence; Clock::now() < until; std::this_thread::sleep_for(50ms)) {
    const auto later = read_beat(files);
    if (later && later->count != beat->count) return *later;
  }
  return silent(run, *beat);
}

Result<SwapReport> ask_for_swap(const fs::path& run, const SwapRequest& request, double seconds, const std::atomic<bool>* interrupt) {
  const SwapFiles files(run);
  auto served = who_serves(run);
  if (!served) return served.error();
  const std::string id = fresh_request_id();
  // replace_file() writes `ID.json.new` first, which nobody takes for a request.
  if (auto put = replace_file(files.request(id), to_text(request)); !put) return put.error();
  const auto began = Clock::now();
  auto last_beat = began;
  std::int64_t count = served->count;
  std::optional<SwapReport> report;
  const auto look = [&] {
    const auto text = read_whole(files.answer(id));
    if (text) report = swap_report_from(*text);
    return report && report->outcome != SwapOutcome::Waiting;
  };
  const auto interrupted = [&] { return interrupt != nullptr && interrupt->load(); };
  while (Clock::now() - began < std::chrono::duration<double>(seconds)) {
    if (look()) return *report;
    if (interrupted()) break;
    std::this_thread::sleep_for(pause_between_looks(Clock::now() - began));
    if (const auto beat = read_beat(files); beat && beat->count != count) {
      count = beat->count;
      last_beat = Clock::now();
    }
    if (!read_beat(files) || Clock::now() - last_beat > silence) break;
  }
  if (report) return *report;  // it waits for the end of the iteration
  // The run takes a request by renaming it, so only one of the two has it.
  std::error_code ignored;
  const bool taken_back = fs::remove(files.request(id), ignored);
  if (look()) return *report;
  if (!taken_back) {
    return Error{fmt::format("The run {} has taken the request and gave no answer within {:.4g} s; it will carry it out or refuse it.",
                             run.string(), seconds),
                 "`allot log RUN --kind swap` tells what came of it; give it more time with --wait"};
  }
  if (interrupted()) {
    return Error{"Interrupted: the request was taken back.", "nothing was changed by it"};
  }
  const auto beat = read_beat(files);
  if (!beat || (beat->host == host_name() && !runs_here(*beat))) return nobody(run, "it ended before it answered");
  if (Clock::now() - last_beat > silence) return silent(run, *beat);
  return Error{fmt::format("The run {} gave no answer within {:.4g} s; the request was taken back.", run.string(), seconds),
               "give it more time with --wait"};
}

}  // namespace allot::engine
