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
  ended_ = 0;
  settled_.clear();
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
  const auto longest = static_cast<int>(settled_.size());
  if (prefix > longest && !all_ended()) return std::nullopt;
  // Beyond the longest rollout only END follows, on both sides of every pair.
  const int reached = std::min(prefix, longest);
  if (reached == 0) return PairSummary{};
  const Settled& settled = settled_[static_cast<std::size_t>(reached) - 1];
  Tally tally = padding == Padding::Padded ? settled.padded : settled.unpadded;
  tally.merge(settled.both);
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
  columns_.append(member.place, action);
  if (ended_ == 0) {
    settle_action(member);
  } else {
    settle_action_beside_ended(member);
    pad_ended();
  }
}

// The usual case, one pass over a row: all rollouts that have as many actions are settled with this one.
void PrefixEdit::settle_action(const Member& member) {
  const std::span<const int> lengths = columns_.lengths();
  const std::span<const int> distances = columns_.distances_to(member.place);
  const int length = member.length();
  Tally::Bucket& both = settled_[static_cast<std::size_t>(length) - 1].both;
  const auto settle = [&](std::size_t begin, std::size_t end) {
    for (std::size_t other = begin; other < end; ++other) {
      if (lengths[other] < length) continue;
      both.add(lengths[other] == length ? distances[other]
                                        : columns_.distance(static_cast<int>(other), length, member.place));
    }
  };
  const auto place = static_cast<std::size_t>(member.place);
  settle(0, place);
  settle(place + 1, lengths.size());
}

void PrefixEdit::settle_action_beside_ended(const Member& member) {
  const int length = member.length();
  Settled& settled = settled_[static_cast<std::size_t>(length) - 1];
  for (const int index : order_) {
    const Member& other = members_[static_cast<std::size_t>(index)];
    if (other.place == member.place) continue;
    if (other.length() >= length) {
      settled.both.add(columns_.distance(other.place, length, member.place));
    } else if (other.ended) {
      settled.unpadded.add(columns_.distance(other.place, other.length(), member.place), length);
    }
  }
  settle_padding(member.place);
}

// A sequence reached a new length, END or not: beside every other that reached it, one of the two has END there.
void PrefixEdit::settle_padding(int place) {
  const int length = columns_.length(place);
  const auto has_action = [&](int at) {
    return members_[static_cast<std::size_t>(order_[static_cast<std::size_t>(at)])].length() >= length;
  };
  Tally& padded = settled_[static_cast<std::size_t>(length) - 1].padded;
  for (int other = 0; other < columns_.count(); ++other) {
    if (other == place || columns_.length(other) < length) continue;
    if (has_action(other) && has_action(place)) continue;
    padded.add(columns_.distance(other, length, place), length);
  }
}

// The rollout's prefix is whole at every length beyond its last action: settled with all others that are settled there.
void PrefixEdit::settle_end(Member& member) {
  const auto longest = static_cast<int>(settled_.size());
  const int length = member.length();
  for (const int index : order_) {
    const Member& other = members_[static_cast<std::size_t>(index)];
    if (other.place == member.place) continue;
    for (int prefix = length + 1; prefix <= (other.ended ? longest : other.length()); ++prefix) {
      const int rows = std::min(prefix, other.length());
      settled_[static_cast<std::size_t>(prefix) - 1].unpadded.add(columns_.distance(other.place, rows, member.place),
                                                                  std::max(rows, length));
    }
    if (other.ended) {
      add_to_buckets(finished_, columns_.distance(other.place, other.length(), member.place),
                     std::max(other.length(), length));
    }
  }
  member.ended = true;
  ++ended_;
  pad_ended();
}

void PrefixEdit::pad_ended() {
  const auto longest = static_cast<int>(settled_.size());
  for (const int index : order_) {
    const Member& member = members_[static_cast<std::size_t>(index)];
    while (member.ended && columns_.length(member.place) < longest) {
      columns_.append(member.place, end_symbol);
      settle_padding(member.place);
    }
  }
}

void PrefixEdit::lengthen_to(int length) {
  for (int prefix = static_cast<int>(settled_.size()) + 1; prefix <= length; ++prefix) {
    settled_.push_back({Tally::Bucket{.divisor = prefix}, Tally(prefix), Tally(prefix, finished_)});
  }
}

}  // namespace allot::statistics
