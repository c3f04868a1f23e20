#include "runtime/engine/swap_desk.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "common/background_thread.h"
#include "runtime/engine/journal.h"
#include "runtime/math/checksum.h"

namespace allot::engine {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr auto pause_between_looks = 10ms;
constexpr auto pause_between_beats = 1s;
constexpr auto still = 1s;  // a watched file is as long as that before its text counts

constexpr auto patience_with_edits = 2 * still;

constexpr std::uintmax_t most_request_bytes = std::uintmax_t{64} << 20;  // a policy with all the files it names

// What came of it stays as it is whatever becomes of the process.
bool lasts(SwapOutcome outcome) { return outcome != SwapOutcome::Active && outcome != SwapOutcome::Canary && outcome != SwapOutcome::Waiting; }

std::string told(const SwapReport& report, const fs::path& file, bool missed) {
  std::string text = fmt::format("{}{}: {}", file.string(), missed ? ", changed while the run was down" : "", name(report.outcome));
  if (report.outcome == SwapOutcome::Active) text += fmt::format(" as version {} ({})", report.version, report.to.substr(0, 12));
  if (!report.reason.empty()) text += ": " + report.reason;
  return text;
}

// None where there is no such file (any more). Whatever lies in the folder is read within bounds.
std::optional<Result<SwapRequest>> read_request(const fs::path& file) {
  std::error_code error;
  const auto status = fs::status(file, error);
  if (!fs::exists(status)) return std::nullopt;
  const auto size = fs::is_regular_file(status) ? fs::file_size(file, error) : most_request_bytes + 1;
  if (error) return std::nullopt;
  if (size > most_request_bytes) return Error{fmt::format("The request is no file of {} bytes or less.", most_request_bytes), "ask again"};
  const auto text = read_whole(file);
  return text ? std::optional(swap_request_from(*text)) : std::nullopt;
}

std::optional<SwapReport> answer_given(const SwapFiles& files, const std::string& id) {
  const auto text = read_whole(files.answer(id));
  return text ? swap_report_from(*text) : std::nullopt;
}

// In the order of asking.
std::vector<std::string> ids_of(const fs::path& requests, std::initializer_list<std::string_view> kinds) {
  std::vector<std::string> ids;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(requests, ignored)) {
    const std::string kind = entry.path().extension().string();
    if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) ids.push_back(entry.path().stem().string());
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

int last_segment(const fs::path& journal) {
  const std::vector<fs::path> files = segments(journal);
  return files.empty() ? 0 : std::atoi(files.back().stem().c_str());
}

struct TakenRequest {
  std::string id;
  std::optional<SwapReport> given;  // the answer to it
};

// In the order of acceptance: ids tell the time by the clock of who asked. What was not answered comes last.
std::vector<TakenRequest> taken_requests(const SwapFiles& files) {
  std::vector<TakenRequest> taken;
  for (const std::string& id : ids_of(files.requests(), {".taken"})) taken.push_back({id, answer_given(files, id)});
  const auto place = [](const TakenRequest& each) { return each.given ? each.given->ticket : std::numeric_limits<int>::max(); };
  std::stable_sort(taken.begin(), taken.end(), [&](const TakenRequest& a, const TakenRequest& b) { return place(a) < place(b); });
  return taken;
}

}  // namespace

Result<std::unique_ptr<SwapDesk>> SwapDesk::open(Engine& engine, const fs::path& run, const fs::path& watched) {
  const SwapFiles files(run);
  std::error_code error;
  const bool resumed = fs::exists(files.requests(), error);
  for (const fs::path& each : {files.requests(), files.answer("").parent_path()}) {
    if (auto made = make_folders(each); !made) return made.error();
  }
  std::unique_ptr<SwapDesk> desk(new SwapDesk(engine, run));
  if (!watched.empty()) desk->watch(watched, resumed);
  desk->saved_ = engine.saved_change();
  desk->carry_out_again();
  desk->answer();  // with the tickets of this process, before it gives out others
  desk->take_what_lies_there();
  desk->beat();
  desk->thread_ = std::jthread([it = desk.get()](const std::stop_token& stop) { it->work(stop); });
  return desk;
}

SwapDesk::SwapDesk(Engine& engine, const fs::path& run) : engine_(engine), files_(run) {}

// A resumed run that did not follow this file before asks for it in any case: where it is active, nothing changes.
void SwapDesk::watch(const fs::path& file, bool resumed) {
  const auto text = read_whole(files_.watched());
  const auto before = text ? watched_from(*text) : std::nullopt;
  const bool same = before && before->file == file.string();
  const std::string known = same ? before->hash : "";
  const auto now = read_whole(file);
  missed_ = resumed && now && math::sha256_hex(*now) != known;
  watcher_.emplace(file, still, resumed ? std::optional(known) : std::nullopt);
  keep_watched();
}

// On a full disk it is taken up once more after a resume, which changes nothing.
void SwapDesk::keep_watched() {
  (void)replace_file(files_.watched(), to_text(Watched{watcher_->file().string(), watcher_->known()}), Durability::Atomic);
}

SwapDesk::~SwapDesk() {
  thread_.request_stop();
  thread_.join();
  workers_.clear();
  answer();
  clean_up();  // the last save may have come after the last look
  announce(Beat::nobody);
}

void SwapDesk::work(const std::stop_token& stop) {
  yield_to_deciding_threads();
  auto next_beat = std::chrono::steady_clock::now();
  while (!stop.stop_requested()) {
    if (std::chrono::steady_clock::now() >= next_beat) {
      beat();
      next_beat = std::chrono::steady_clock::now() + pause_between_beats;
    }
    take_requests();
    follow_file();
    answer();
    clean_up();
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, stop, pause_between_looks, [&] { return std::exchange(news_, false); });
  }
}

void SwapDesk::beat() { announce(::getpid()); }

void SwapDesk::announce(std::int64_t process) {
  const ActiveVersion active = engine_.active();
  const int segment = last_segment(files_.folder.parent_path() / "journal");
  const Beat beat{host_name(), process, ++beats_, active.hash, active.number, active.parameters, segment};
  (void)replace_file(files_.alive(), to_text(beat), Durability::Atomic);  // a full disk stops the beat, not the run
}

// What an earlier process had begun with and the state does not hold. Each may build on the one before, so they go one
// after the other; and nobody decides before the policy is active again that was said to be.
void SwapDesk::carry_out_again() {
  std::error_code ignored;
  for (const auto& [id, given] : taken_requests(files_)) {
    const bool accepted = given && !lasts(given->outcome);
    if (engine_.carried_out(id) || (given && !accepted)) {
      fs::remove(files_.taken(id), ignored);
      continue;
    }
    auto request = read_request(files_.taken(id));
    if (!request) continue;
    SwapReport report;
    if (*request) {
      SwapRequest again = **std::move(request);
      again.id = id;
      if (accepted) again.expected.clear();  // it was as expected when it was accepted
      report = engine_.swap(again);
    } else {
      report.reason = request->error().text();
    }
    if (accepted && report.outcome == SwapOutcome::Refused) {
      messages_.push_back(fmt::format("a swap that was accepted before the run was resumed cannot be made again: {}", report.reason));
    }
    served_[id].report = std::move(report);
  }
}

// A run whose budget is used up ends before its first iteration: what gives it a larger one must not come after that.
void SwapDesk::take_what_lies_there() {
  for (const auto until = std::chrono::steady_clock::now() + patience_with_edits; missed_ && std::chrono::steady_clock::now() < until;) {
    std::this_thread::sleep_for(pause_between_looks);
    follow_file();
  }
  take_requests();
  for (auto& [id, worker] : workers_) worker.join();
  answer();
}

// Tickets are taken in the order of asking, so that of several requests the latest wins.
void SwapDesk::take_requests() {
  std::error_code ignored;
  bool taken = false;
  for (const std::string& id : ids_of(files_.requests(), {".json", ".taken"})) {
    {
      const std::lock_guard lock(mutex_);
      if (served_.contains(id)) continue;
    }
    // Who asked cannot take it back any more; where that was done already there is nothing to rename.
    std::error_code failure;
    fs::rename(files_.request(id), files_.taken(id), failure);
    taken = taken || !failure;
    if (engine_.carried_out(id)) {  // before the run was resumed
      fs::remove(files_.taken(id), ignored);
      continue;
    }
    auto request = read_request(files_.taken(id));
    if (!request) continue;
    if (*request) {
      serve(id, **std::move(request));
      continue;
    }
    SwapReport refused;
    refused.reason = request->error().text();
    const std::lock_guard lock(mutex_);
    served_[id].report = std::move(refused);
  }
  if (taken) (void)sync_folder(files_.requests());  // on disk before any of them is answered
}

void SwapDesk::serve(const std::string& id, SwapRequest request) {
  request.ticket = engine_.announce_swap();
  request.id = id;
  {
    const std::lock_guard lock(mutex_);
    served_[id] = {};
  }
  workers_[id] = std::jthread([this, id, request = std::move(request)] {
    SwapReport report = engine_.swap(request);
    {
      const std::lock_guard lock(mutex_);
      served_[id].report = std::move(report);
      news_ = true;
    }
    changed_.notify_all();
  });
}

void SwapDesk::follow_file() {
  if (!watcher_) return;
  auto text = watcher_->look();
  if (!text) return;
  SwapRequest request;
  request.text.file = watcher_->file().string();
  request.text.text = *std::move(text);
  request.by = "watch";
  request.confirmed = false;
  request.text.whole = false;
  const std::string id = fresh_request_id();
  if (std::exchange(missed_, false)) missed_request_ = id;
  // Through the folder like any other, so that it outlives the process.
  if (auto put = replace_file(files_.request(id), to_text(request)); !put) {
    const std::lock_guard lock(mutex_);
    messages_.push_back(put.error().text());
    return;
  }
  keep_watched();
}

// Answers are written when there is news: of one that waited, once more.
void SwapDesk::answer() {
  std::vector<std::pair<std::string, SwapReport>> news;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [id, served] : served_) {
      if (!served.report) continue;
      if (served.told && served.report->outcome == SwapOutcome::Waiting) {
        SwapReport later = engine_.swap_outcome(served.report->ticket);
        if (later.ticket != 0 && later.outcome != SwapOutcome::Waiting) served = {std::move(later), false};
      }
      if (!served.told) news.emplace_back(id, *served.report);
      const bool of_file = served.report->by == "watch" && watcher_ && served.report->outcome != SwapOutcome::Unchanged;
      if (!served.told && of_file) messages_.push_back(told(*served.report, watcher_->file(), id == missed_request_));
      served.told = true;
    }
  }
  for (const auto& [id, report] : news) {
    workers_.erase(id);
    beat();  // the active version with it
    // A request that was carried out before the process ended may come again: its answer was given.
    const auto given = answer_given(files_, id);
    const bool repeats = given && !lasts(given->outcome) && given->outcome != SwapOutcome::Waiting && lasts(report.outcome);
    if (!repeats) (void)replace_file(files_.answer(id), to_text(report));
  }
}

// A request goes when its outcome would survive the end of the process.
void SwapDesk::clean_up() {
  std::vector<std::string> done;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, served] : served_) {
      if (!served.told || served.report->outcome == SwapOutcome::Waiting) continue;
      if (lasts(served.report->outcome) || served.report->change <= saved_) done.push_back(id);
    }
  }
  for (const std::string& id : done) {
    std::error_code error;
    fs::remove(files_.taken(id), error);
    const std::lock_guard lock(mutex_);
    if (!error) served_.erase(id);
  }
}

void SwapDesk::saved(int change) {
  const std::lock_guard lock(mutex_);
  saved_ = std::max(saved_, change);
}

std::vector<std::string> SwapDesk::take_messages() {
  const std::lock_guard lock(mutex_);
  return std::exchange(messages_, {});
}

}  // namespace allot::engine
