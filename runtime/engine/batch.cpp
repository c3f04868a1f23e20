#include "runtime/engine/batch.h"

#include <algorithm>

#include <fmt/format.h>

namespace allot::engine {

Batch::Batch(int slots, int places, int most_rounds, std::vector<std::string> order)
    : slots_(slots), most_rounds_(most_rounds), places_(static_cast<std::size_t>(places)), order_(std::move(order)) {}

std::size_t Batch::index(int place, int round) const {
  return static_cast<std::size_t>(round - 1) * places_.size() + static_cast<std::size_t>(place);
}

std::optional<std::string> Batch::prompt(int place, int round) const {
  const std::size_t at = index(place, round);
  if (at >= order_.size()) return std::nullopt;
  return order_[at];
}

std::optional<std::string> Batch::next() {
  if (next_ >= order_.size()) return std::nullopt;
  return order_[next_++];
}

int Batch::rounds() const {
  int most = 1;
  for (const Slot& slot : places_) most = std::max(most, slot.round);
  return most;
}

int Batch::count(SlotStatus status) const {
  const auto has = [&](const Slot& slot) { return slot.status == status; };
  return static_cast<int>(std::count_if(places_.begin(), places_.end(), has));
}

int Batch::missing() const { return slots_ - count(SlotStatus::Filled); }

int Batch::open_slots() const {
  const auto open = std::count_if(places_.begin(), places_.end(), [](const Slot& slot) { return slot.open(); });
  return std::max(0, std::min(static_cast<int>(open), missing()));
}

std::vector<int> Batch::waiting() const {
  std::vector<int> found;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (places_[i].status == SlotStatus::Waiting) found.push_back(static_cast<int>(i));
  }
  return found;
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
                     why_open(batch), kept, groups, prompts_seen, batch.open_slots(), batch.size(),
                     fallback_words(fallback));
}

}  // namespace allot::engine
