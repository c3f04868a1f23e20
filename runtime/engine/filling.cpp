// Groups are opened: the first fill of the batch, and one prompt for each slot that asks for another.
#include <algorithm>

#include "runtime/engine/live_engine.h"

namespace allot::engine {
namespace {

// Bounds a group whose policy sets no `up to`, so that a policy that always asks for more ends.
constexpr std::int64_t most_rollouts = 4096;

int bounded(std::int64_t count) { return static_cast<int>(std::clamp<std::int64_t>(count, 0, most_rollouts)); }

}  // namespace

// What `size` gives each prompt; without an answer the host's group size. A refill asks for its prompt alone.
std::vector<LiveEngine::Size> LiveEngine::sizes_for(const std::vector<std::string>& prompts) {
  const Size usual{settings_.group_size, settings_.group_size, settings_.group_size};
  std::vector<Size> sizes(prompts.size(), usual);
  const int handler = judge_ ? points_.find(lang::Point::Size, lang::Subject::Batch) : no_handler;
  if (handler == no_handler || prompts.empty()) return sizes;
  BatchFacts facts;
  for (const std::string& prompt : prompts) facts.prompts.push_back(facts.place(prompt));
  describe(facts);
  const Decision decision = consult_batch(handler, facts);
  if (shadow() || decision.verdict.amounts.empty()) return sizes;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    Size& size = sizes[i];
    const int asked = bounded(decision.verdict.amount(i));
    size.cap = decision.verdict.up_to(i) ? bounded(*decision.verdict.up_to(i)) : static_cast<int>(most_rollouts);
    size.first = std::min(asked, size.cap);
    size.planned = decision.verdict.up_to(i) ? size.cap : size.first;
    if (asked > size.first) ++tallies_.clamped;
  }
  return sizes;
}

int LiveEngine::running() const {
  const auto runs = [](const auto& each) { return each.second->running(); };
  return static_cast<int>(std::count_if(groups_.begin(), groups_.end(), runs));
}

void LiveEngine::first_fill(Orders& orders) {
  std::vector<int> places;
  for (int place = 0; place < static_cast<int>(batch_.slots().size()); ++place) places.push_back(place);
  fill(places, 1, orders);
}

// Groups that wait come first, then fresh prompts, as many as slots are missing; times as many as `select` took more
// than there are slots. The request for fresh ones is reserved as a whole; what the budget cannot cover is cut from the
// last place backwards, and prompts left with nothing return to the pool.
void LiveEngine::fill(const std::vector<int>& places, int round, Orders& orders) {
  std::size_t taken = 0;
  for (LiveGroup* group : due()) {
    if (taken == places.size() || running() >= batch_.missing()) break;
    resume(*group, places[taken++], round, orders);
  }
  const std::int64_t missing = std::max(0, batch_.missing() - running());
  const std::int64_t wanted = (missing * places_a_batch_ + batch_.size() - 1) / batch_.size();
  std::vector<int> used;
  std::vector<std::string> prompts;
  while (taken < places.size() && static_cast<std::int64_t>(prompts.size()) < wanted) {
    auto prompt = rounds_together_ ? batch_.next() : batch_.prompt(places[taken], round);
    if (!prompt && rounds_together_) break;
    if (prompt) {
      used.push_back(places[taken]);
      prompts.push_back(*std::move(prompt));
    }
    ++taken;
  }
  const std::vector<Size> sizes = sizes_for(prompts);
  int asked = 0;
  for (const Size& size : sizes) asked += size.first;
  int left = ledger_.affordable(asked);
  tallies_.starts_cut += asked - left;
  for (std::size_t i = 0; i < used.size(); ++i) {
    const int count = std::min(sizes[i].first, left);
    left -= count;
    if (count > 0) {
      open_group(used[i], round, prompts[i], sizes[i], count, orders);
    } else if (round > 1 && sizes[i].first > 0) {
      batch_.slot(used[i]).status = SlotStatus::BudgetOut;
    }
  }
  note_shortage();
}

// A round of refills, where rounds begin together: when nobody runs any more. Gives whether anything was started or
// ended, so that there may be more to do.
bool LiveEngine::fill_round(Orders& orders) {
  const std::vector<int> waiting = batch_.waiting();
  if (waiting.empty()) return false;
  const auto set = [&](SlotStatus status) {
    for (const int place : batch_.waiting()) batch_.slot(place).status = status;
  };
  if (batch_.full()) {
    set(SlotStatus::Left);
    return false;
  }
  if (batch_.rounds() >= batch_.most_rounds()) {
    set(SlotStatus::RoundsUsed);
    return false;
  }
  const int opened_before = next_group_;
  const std::int64_t resumed_before = tallies_.resumed;
  fill(waiting, batch_.rounds() + 1, orders);
  if (next_group_ != opened_before || tallies_.resumed != resumed_before) return true;
  set(SlotStatus::PromptsOut);
  return false;
}

void LiveEngine::open_group(int place, int round, const std::string& prompt, const Size& size, int count,
                            Orders& orders) {
  auto opened = std::make_unique<LiveGroup>();
  LiveGroup& group = *opened;
  group.log.group = next_group_++;
  group.log.iteration = iteration_;
  group.log.slot = place;
  group.log.round = round;
  group.log.prompt = prompt;
  if (const PoolPrompt* described = pool_.find(prompt)) group.log.category = described->category;
  group.log.planned = size.planned;
  group.log.cap = size.cap;
  if (swaps_.current) {
    group.version = version_for_group(prompt, place, round);
    group.kept = KeptStatistics(group.version->plan);
  }
  group.state = store_.initial();
  group.cut_by_budget = count < size.first;
  group.short_of = size.first - count;
  batch_.slot(place) = {SlotStatus::Running, round};
  audit_.opened(group);
  begin_rollouts(group, count, orders);
  groups_.add(group.log.group, std::move(opened));  // now it may be found: an event that comes too early must not see it half made
}

// The next prompt of this slot, while it has rounds. So only what is missing is started, never a whole new batch.
void LiveEngine::refill(int index, Orders& orders) {
  Slot& slot = batch_.slot(index);
  while (slot.round < batch_.most_rounds()) {
    const int round = slot.round + 1;
    const auto prompt = batch_.prompt(index, round);
    if (!prompt) {
      slot.status = SlotStatus::PromptsOut;
      return;
    }
    const Size size = sizes_for({*prompt}).front();
    const int count = ledger_.affordable(size.first);
    tallies_.starts_cut += size.first - count;
    if (count > 0) {
      open_group(index, round, *prompt, size, count, orders);
      return note_shortage();
    }
    if (size.first > 0) {
      slot.status = SlotStatus::BudgetOut;
      return note_shortage();
    }
    slot.round = round;  // `size` gave it nothing: its prompt goes back to the pool
  }
  slot.status = SlotStatus::RoundsUsed;
}

}  // namespace allot::engine
