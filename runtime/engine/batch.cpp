#include "runtime/engine/batch.h"

#include <algorithm>

#include <fmt/format.h>

namespace allot::engine {

Batch::Batch(int slots, int most_rounds, std::vector<std::string> prompts)
    : most_rounds_(most_rounds), slots_(static_cast<std::size_t>(slots)), prompts_(std::move(prompts)),
      opened_(prompts_.size(), 0) {}

std::size_t Batch::index(int slot, int round) const {
  return static_cast<std::size_t>(round - 1) * slots_.size() + static_cast<std::size_t>(slot);
}

std::optional<std::string> Batch::prompt(int slot, int round) const {
  const std::size_t place = index(slot, round);
  if (place >= prompts_.size()) return std::nullopt;
  return prompts_[place];
}

void Batch::mark_opened(int slot, int round) { opened_[index(slot, round)] = 1; }

std::vector<std::string> Batch::unused() const {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < prompts_.size(); ++i) {
    if (opened_[i] == 0) names.push_back(prompts_[i]);
  }
  return names;
}

int Batch::rounds() const {
  int most = 1;
  for (const Slot& slot : slots_) most = std::max(most, slot.round);
  return most;
}

int Batch::open_slots() const {
  return static_cast<int>(std::count_if(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.open(); }));
}

namespace {

std::string why_open(const Batch& batch) {
  const auto any = [&](SlotStatus status) {
    return std::any_of(batch.slots().begin(), batch.slots().end(), [&](const Slot& s) { return s.status == status; });
  };
  if (any(SlotStatus::BudgetOut)) return "the budget is used up";
  if (any(SlotStatus::PromptsOut)) return fmt::format("there are no further prompts after {} rounds", batch.rounds());
  return fmt::format("all {} rounds are used", batch.most_rounds());
}

std::string_view fallback_words(lang::RefillFallback fallback) {
  switch (fallback) {
    case lang::RefillFallback::SkipUpdate: return "skip_update: nothing is trained on";
    case lang::RefillFallback::Abort: return "abort: the run ends";
    case lang::RefillFallback::TrainPartial: break;
  }
  return "train_partial: the update goes on with what there is";
}

}  // namespace

std::string refill_message(const Batch& batch, int groups, int kept, int prompts_seen,
                           lang::RefillFallback fallback) {
  return fmt::format("refill: {}, {}/{} groups were kept ({} prompts seen), {} of {} slots stay open; {}.",
                     why_open(batch), kept, groups, prompts_seen, batch.open_slots(), batch.slots().size(),
                     fallback_words(fallback));
}

}  // namespace allot::engine
