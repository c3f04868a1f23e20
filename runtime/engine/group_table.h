// Groups by number, ascending.
//
// Asked for at every turn, while the model has driven all else out of the cache: numbers run on, so a group is mostly
// found where its number says, where a tree would be walked from its root.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/engine/live_group.h"

namespace allot::engine {

class GroupTable {
 public:
  using Entry = std::pair<int, std::unique_ptr<LiveGroup>>;
  using iterator = std::vector<Entry>::iterator;
  using const_iterator = std::vector<Entry>::const_iterator;

  iterator begin() { return entries_.begin(); }
  iterator end() { return entries_.end(); }
  const_iterator begin() const { return entries_.begin(); }
  const_iterator end() const { return entries_.end(); }
  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }

  LiveGroup& at_place(std::size_t place) { return *entries_[place].second; }
  // Null where there is none of this number.
  LiveGroup* find(int number) const {
    if (entries_.empty() || number < entries_.front().first) return nullptr;
    const auto guess = static_cast<std::size_t>(number - entries_.front().first);
    if (guess < entries_.size() && entries_[guess].first == number) return entries_[guess].second.get();
    const const_iterator found = from(number);
    return found == end() || found->first != number ? nullptr : found->second.get();
  }
  // The first whose number is not less.
  const_iterator from(int number) const {
    return std::lower_bound(begin(), end(), number, [](const Entry& entry, int wanted) { return entry.first < wanted; });
  }

  // A number that is there already keeps its group. Iterators end here.
  void add(int number, std::unique_ptr<LiveGroup> group) {
    const auto place = from(number);
    if (place == end() || place->first != number) entries_.emplace(place, number, std::move(group));
  }
  template <class Condition>
  void remove_if(Condition condition) {
    std::erase_if(entries_, [&](const Entry& entry) { return condition(*entry.second); });
  }
  void clear() { entries_.clear(); }

 private:
  std::vector<Entry> entries_;
};

}  // namespace allot::engine
