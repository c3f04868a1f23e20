// The places of one iteration's batch and the prompts that may fill them.
//
// Which prompt a slot gets in which round follows from the select order, never from the order in which groups end.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lang/program.h"

namespace allot::engine {

enum class SlotStatus {
  Empty,        // never filled: there was no prompt, no budget, or `size` gave it nothing
  Running,
  Filled,       // its group is trained on
  Left,         // its group was dropped and no refill was asked for: the batch shrinks
  RoundsUsed,   // open: every round was used
  PromptsOut,   // open: the select order has no prompt for its next round
  BudgetOut     // open: the budget cannot cover another group
};

struct Slot {
  SlotStatus status = SlotStatus::Empty;
  int round = 0;   // of the group it holds or held last
  bool open() const {
    return status == SlotStatus::RoundsUsed || status == SlotStatus::PromptsOut || status == SlotStatus::BudgetOut;
  }
};

class Batch {
 public:
  Batch() = default;
  Batch(int slots, int most_rounds, std::vector<std::string> prompts);

  // prompts[(round - 1) * slots + slot], where there is one.
  std::optional<std::string> prompt(int slot, int round) const;
  void mark_opened(int slot, int round);
  std::vector<std::string> unused() const;  // in select order

  Slot& slot(int index) { return slots_[static_cast<std::size_t>(index)]; }
  const std::vector<Slot>& slots() const { return slots_; }
  int most_rounds() const { return most_rounds_; }
  int rounds() const;      // the most any slot used; 1 at least
  int open_slots() const;  // slots that asked for another group and cannot get one

 private:
  std::size_t index(int slot, int round) const;
  int most_rounds_ = 1;
  std::vector<Slot> slots_;
  std::vector<std::string> prompts_;
  std::vector<char> opened_;
};

// "refill: all 5 rounds are used, 0 of 40 groups were kept (40 prompts seen), 8 of 8 slots stay open; …".
std::string refill_message(const Batch& batch, int groups, int kept, int prompts_seen, lang::RefillFallback fallback);

}  // namespace allot::engine
