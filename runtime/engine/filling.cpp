// Groups are opened: the first fill of the batch, and one prompt for each slot that asks for another.
#include <algorithm>

#include "runtime/engine/live_engine.h"

namespace allot::engine {
namespace {

// Bounds a group whose policy sets no `up to`, so that a policy that always asks for more ends.
constexpr std::int64_t most_rollouts = 4096;

int bounded(std::int64_t count) { return static_cast<int>(std::clamp<std::int64_t>(count, 0, most_rollouts)); }

BatchFacts facts_of(const std::vector<std::string>& prompts) {
  BatchFacts facts;
  for (const std::string& prompt : prompts) {
    auto known = std::find(facts.distinct.begin(), facts.distinct.end(), prompt);
    facts.prompts.push_back(known - facts.distinct.begin());
    if (known == facts.distinct.end()) facts.distinct.push_back(prompt);
  }
  return facts;
}

}  // namespace

// What `size` gives each prompt; without an answer the host's group size. A refill asks for its prompt alone.
std::vector<LiveEngine::Size> LiveEngine::sizes_for(const std::vector<std::string>& prompts) {
  const Size usual{settings_.group_size, settings_.group_size, settings_.group_size};
  std::vector<Size> sizes(prompts.size(), usual);
  const int handler = judge_ ? points_.find(lang::Point::Size) : no_handler;
  if (handler == no_handler || prompts.empty()) return sizes;
  const Decision decision = judge_->ask_size(handler, facts_of(prompts), run_facts(), store_);
  audit_.decided(*judge_, decision, iteration_, -1, 0, shadow() ? Carried::Shadow : Carried::Out);
  note_fault(decision);
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

// The request is reserved as a whole; what the budget cannot cover is cut from the last slot backwards.
void LiveEngine::first_fill(Orders& orders) {
  std::vector<int> slots;
  std::vector<std::string> prompts;
  for (int slot = 0; slot < settings_.slots; ++slot) {
    if (auto prompt = batch_.prompt(slot, 1)) {
      slots.push_back(slot);
      prompts.push_back(*std::move(prompt));
    }
  }
  const std::vector<Size> sizes = sizes_for(prompts);
  int wanted = 0;
  for (const Size& size : sizes) wanted += size.first;
  int left = ledger_.affordable(wanted);
  tallies_.starts_cut += wanted - left;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const int count = std::min(sizes[i].first, left);
    left -= count;
    if (count > 0) open_group(slots[i], 1, prompts[i], sizes[i], count, orders);
  }
}

void LiveEngine::open_group(int slot, int round, const std::string& prompt, const Size& size, int count,
                            Orders& orders) {
  auto group = std::make_unique<LiveGroup>();
  group->log.group = next_group_++;
  group->log.iteration = iteration_;
  group->log.slot = slot;
  group->log.round = round;
  group->log.prompt = prompt;
  group->log.planned = size.planned;
  group->log.cap = size.cap;
  group->kept = KeptStatistics(plan_);
  group->state = store_.initial();
  group->cut_by_budget = count < size.first;
  batch_.mark_opened(slot, round);
  batch_.slot(slot) = {SlotStatus::Running, round};
  audit_.opened(*group);
  groups_.push_back(std::move(group));
  start_more(*groups_.back(), count, orders);
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
      return;
    }
    if (size.first > 0) {
      slot.status = SlotStatus::BudgetOut;
      return;
    }
    slot.round = round;  // `size` gave it nothing: its prompt goes back to the pool
  }
  slot.status = SlotStatus::RoundsUsed;
}

}  // namespace allot::engine
