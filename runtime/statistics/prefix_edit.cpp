#include "runtime/statistics/prefix_edit.h"

#include <algorithm>
#include <utility>

namespace allot::statistics {

int PrefixEdit::add_rollout() {
  const auto index = static_cast<int>(members_.size());
  members_.emplace_back();
  join(index);
  return index;
}

void PrefixEdit::append(int rollout, Symbol action) {
  Member& member = members_[static_cast<std::size_t>(rollout)];
  if (member.left_out || member.ended || member.length() >= limit_) return;
  record(member, action);
}

void PrefixEdit::end(int rollout) {
  Member& member = members_[static_cast<std::size_t>(rollout)];
  if (member.left_out || member.ended) return;
  settle_end(member);
}

void PrefixEdit::leave_out(int rollout) {
  if (members_[static_cast<std::size_t>(rollout)].left_out) return;
  members_[static_cast<std::size_t>(rollout)].left_out = true;
  order_.clear();
  columns_ = {};
  padded_.clear();
  unpadded_.clear();
  finished_.clear();
  for (std::size_t index = 0; index < members_.size(); ++index) {
    Member& member = members_[index];
    if (member.left_out) continue;
    const std::vector<Symbol> actions = std::exchange(member.actions, {});
    const bool ended = std::exchange(member.ended, false);
    join(static_cast<int>(index));
    for (const Symbol action : actions) record(member, action);
    if (ended) settle_end(member);
  }
}

std::optional<PairSummary> PrefixEdit::at(int prefix, Padding padding, Scale scale) const {
  const int count = columns_.count();
  if (count < 2 || prefix < 0 || prefix > limit_) return std::nullopt;
  const int longest = static_cast<int>(padded_.size());
  if (prefix > longest && !all_ended()) return std::nullopt;
  // Beyond the longest rollout only END follows, on both sides of every pair.
  const int reached = std::min(prefix, longest);
  if (reached == 0) return PairSummary{};
  const Tally& tally = (padding == Padding::Padded ? padded_ : unpadded_)[static_cast<std::size_t>(reached) - 1];
  if (tally.pairs() != count * (count - 1) / 2) return std::nullopt;
  if (padding == Padding::Padded && scale == Scale::Normalized) return tally.summary_over(prefix);
  return tally.summary(scale);
}

void PrefixEdit::join(int index) {
  members_[static_cast<std::size_t>(index)].place = columns_.add();
  order_.push_back(index);
}

void PrefixEdit::record(Member& member, Symbol action) {
  member.actions.push_back(action);
  lengthen_to(member.length());
  push(member.place, action);
  settle_unpadded(member);
  pad_ended();
}

// One more symbol of a rollout, END included: the padded prefixes of that length are settled with all that reached it.
void PrefixEdit::push(int place, Symbol symbol) {
  columns_.append(place, symbol);
  const int length = columns_.length(place);
  Tally& tally = padded_[static_cast<std::size_t>(length) - 1];
  for (int other = 0; other < columns_.count(); ++other) {
    if (other == place || columns_.length(other) < length) continue;
    tally.add(columns_.distance(other, length, place), length);
  }
}

void PrefixEdit::settle_unpadded(const Member& member) {
  const int length = member.length();
  Tally& tally = unpadded_[static_cast<std::size_t>(length) - 1];
  for (const int index : order_) {
    const Member& other = members_[static_cast<std::size_t>(index)];
    if (other.place == member.place || (!other.ended && other.length() < length)) continue;
    tally.add(columns_.distance(other.place, std::min(length, other.length()), member.place), length);
  }
}

// The rollout's prefix is whole at every length beyond its last action: settled with all others that are settled there.
void PrefixEdit::settle_end(Member& member) {
  const int longest = static_cast<int>(padded_.size());
  const int length = member.length();
  for (const int index : order_) {
    const Member& other = members_[static_cast<std::size_t>(index)];
    if (other.place == member.place) continue;
    for (int prefix = length + 1; prefix <= (other.ended ? longest : other.length()); ++prefix) {
      const int rows = std::min(prefix, other.length());
      unpadded_[static_cast<std::size_t>(prefix) - 1].add(columns_.distance(other.place, rows, member.place),
                                                          std::max(rows, length));
    }
    if (other.ended) {
      add_to_buckets(finished_, columns_.distance(other.place, other.length(), member.place),
                     std::max(other.length(), length));
    }
  }
  member.ended = true;
  pad_ended();
}

void PrefixEdit::pad_ended() {
  const int longest = static_cast<int>(padded_.size());
  for (const int index : order_) {
    const Member& member = members_[static_cast<std::size_t>(index)];
    while (member.ended && columns_.length(member.place) < longest) push(member.place, end_symbol);
  }
}

void PrefixEdit::lengthen_to(int length) {
  while (static_cast<int>(padded_.size()) < length) {
    const int prefix = static_cast<int>(padded_.size()) + 1;
    padded_.emplace_back(prefix);
    unpadded_.emplace_back(prefix, finished_);
  }
}

bool PrefixEdit::all_ended() const {
  return std::all_of(order_.begin(), order_.end(),
                     [this](int index) { return members_[static_cast<std::size_t>(index)].ended; });
}

}  // namespace allot::statistics
