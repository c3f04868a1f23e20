// Groups by number, ascending.
//
// Asked for at every turn, while the model has driven all else out of the cache: numbers run on, so a group is mostly
// found where its number says, where a tree would be walked from its root.
#pragma once

#include <algorithm>
#include <atomic>
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
  // The same beside add(), by any number of threads.
  LiveGroup* find_beside(int number) const {
    const Index* const index = index_.load(std::memory_order_acquire);
    if (index == nullptr || number < index->first) return nullptr;
    const auto place = static_cast<std::size_t>(number - index->first);
    return place < index->count.load(std::memory_order_acquire) ? index->groups[place] : nullptr;
  }
  // The first whose number is not less.
  const_iterator from(int number) const {
    return std::lower_bound(begin(), end(), number, [](const Entry& entry, int wanted) { return entry.first < wanted; });
  }

  // A number that is there already keeps its group. Iterators end here.
  void add(int number, std::unique_ptr<LiveGroup> group) {
    const auto place = from(number);
    if (place != end() && place->first == number) return;
    LiveGroup* const added = group.get();
    entries_.emplace(place, number, std::move(group));
    publish(number, added);
  }
  template <class Condition>
  void remove_if(Condition condition) {
    std::erase_if(entries_, [&](const Entry& entry) { return condition(*entry.second); });
    publish_all();
  }
  void clear() {
    entries_.clear();
    publish_all();
  }

 private:
  // By number, from the first on; null where there is none. It never grows, so that who looks is not disturbed: a larger
  // one takes its place, and those before go when nobody looks.
  struct Index {
    Index(int from, std::size_t size) : first(from), groups(size) {}
    const int first;
    std::vector<LiveGroup*> groups;
    std::atomic<std::size_t> count = 0;
  };

  void publish(int number, LiveGroup* group) {
    if (indices_.empty() || number < indices_.back()->first) return publish_all();
    const auto place = static_cast<std::size_t>(number - indices_.back()->first);
    if (place >= indices_.back()->groups.size()) {
      auto larger = std::make_unique<Index>(indices_.back()->first, 2 * (place + 1));
      std::copy(indices_.back()->groups.begin(), indices_.back()->groups.end(), larger->groups.begin());
      indices_.push_back(std::move(larger));
    }
    Index& index = *indices_.back();
    index.groups[place] = group;
    index.count.store(place + 1, std::memory_order_release);
    index_.store(&index, std::memory_order_release);
  }
  void publish_all() {
    index_.store(nullptr, std::memory_order_release);
    indices_.clear();
    if (entries_.empty()) return;
    indices_.push_back(std::make_unique<Index>(entries_.front().first, 64));
    for (const auto& [number, group] : entries_) publish(number, group.get());
  }

  std::vector<Entry> entries_;
  std::vector<std::unique_ptr<Index>> indices_;  // the last is the one in use
  std::atomic<const Index*> index_ = nullptr;
};

}  // namespace allot::engine
