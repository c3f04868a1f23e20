// A swap through a client: the engine takes the request at once, and is asked again and again what came of it.
#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include <fmt/core.h>

#include "runtime/engine/policy.h"
#include "runtime/remote/client.h"
#include "runtime/remote/waits.h"

namespace allot::remote {

using engine::JsonText;
using engine::SwapReport;
using engine::SwapRequest;

namespace {

constexpr std::chrono::milliseconds shortest_pause{1};

// Of what is left. With less than a slice an engine that is well would be taken for one that hangs.
Line::Seconds wait_until(Line::Clock::time_point until) {
  return std::max<Line::Seconds>(until - Line::Clock::now(), slice);
}

SwapReport refused(const SwapRequest& request, const Error& error) {
  SwapReport report;
  report.by = request.by;
  report.reason = error.text();
  report.now = request.now;
  report.canary = request.canary;
  report.back = request.back;
  return report;
}

Error untold(int ticket, double seconds) {
  return {fmt::format("The engine has taken the swap and did not tell within {:.4g} s what came of it: it will carry it "
                      "out or refuse it.",
                      seconds),
          fmt::format("ask swap_outcome({}) later", ticket)};
}

// It was taken, and then its outcome was asked for in vain.
Error taken(const std::string& problem, int ticket) {
  return {fmt::format("The engine had taken the swap as request {} and did not tell what came of it. {}", ticket,
                      problem),
          fmt::format("ask swap_outcome({}) later; where the engine was restarted, look at active_version", ticket)};
}

}  // namespace

// An engine in this process takes a loaded policy with just what was given for it, beside which a text would get the
// parameters of the active one.
SwapReport Client::swap(const SwapRequest& request) {
  if (request.policy) {
    return refused(request, {"A policy that is loaded already does not travel over the socket.", "give its text"});
  }
  const auto patience = std::chrono::duration_cast<Line::Clock::duration>(Line::Seconds(settings_.patience));
  const auto until = Line::Clock::now() + patience;
  SwapRequest complete = request;
  if (!request.back) complete.text = engine::whole_text(request.text);
  std::int64_t restarts = 0;
  const int ticket = answered(alone([&] {
                       auto answer = obtain(Ask::Swap, [&](JsonText& text) { put_request(text, complete); },
                                             wait_until(until));
                       restarts = counts_.restarts;
                       return answer;
                     })).ticket;
  for (auto pause = shortest_pause;; pause = std::min(2 * pause, slice)) {
    if (auto report = outcome(ticket, restarts, until)) return *std::move(report);
    if (Line::Clock::now() >= until) throw Unanswered(untold(ticket, settings_.patience).text());
    std::this_thread::sleep_for(pause);
    settings_.between();
  }
}

// None: it is not known yet. Another engine gives the same tickets to other requests.
std::optional<SwapReport> Client::outcome(int ticket, std::int64_t restarts, Line::Clock::time_point until) const {
  auto answer = alone([&]() -> Result<Answer> {
    if (counts_.restarts != restarts) return restarted();
    return obtain(Ask::Outcome, [&](JsonText& text) { text.member("ticket", ticket); }, wait_until(until));
  });
  if (!answer) throw Unanswered(taken(answer.error().what, ticket).text());
  if (answer->swap && answer->swap->ticket == 0) return std::nullopt;
  return std::move(answer->swap);
}

SwapReport Client::swap_outcome(int ticket) const {
  const Put put = [&](JsonText& text) { text.member("ticket", ticket); };
  return answered(demand(Ask::Outcome, put)).swap.value_or(SwapReport{});
}

}  // namespace allot::remote
