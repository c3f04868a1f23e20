// The places of one iteration's batch and the prompts that may fill them.
//
// A batch has as many *slots* as the host trains groups on, and as many *places* as groups may be open at once; a
// policy that selects more prompts than there are slots has more places. Which prompt a place gets in which round
// follows from the select order, never from the order in which groups end: with as many places as slots a place goes
// through prompts of its own; otherwise a round begins when everybody has ended, and takes the next ones in order.
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
  Left,         // its group was dropped or deferred and no refill was asked for: the batch shrinks
  Waiting,      // a refill was asked for and comes with the next round
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
  Batch(int slots, int places, int most_rounds, std::vector<std::string> order);

  // order[(round - 1) * places + place], where there is one.
  std::optional<std::string> prompt(int place, int round) const;
  // The first of the order that was not offered before.
  std::optional<std::string> next();

  Slot& slot(int place) { return places_[static_cast<std::size_t>(place)]; }
  const std::vector<Slot>& slots() const { return places_; }
  int size() const { return slots_; }
  int most_rounds() const { return most_rounds_; }
  int rounds() const;      // the most any place used; 1 at least
  int open_slots() const;  // slots whose place asked for another group and cannot get one
  int missing() const;     // slots that no group has taken
  bool full() const { return missing() <= 0; }
  std::vector<int> waiting() const;  // places, ascending

 private:
  std::size_t index(int place, int round) const;
  int count(SlotStatus status) const;
  int slots_ = 0;
  int most_rounds_ = 1;
  std::vector<Slot> places_;
  std::vector<std::string> order_;
  std::size_t next_ = 0;
};

// "refill: all 5 rounds are used, 0 of 40 groups were kept (40 prompts seen), 8 of 8 slots stay open; …".
std::string refill_message(const Batch& batch, int groups, int kept, int prompts_seen, lang::RefillFallback fallback);

}  // namespace allot::engine
