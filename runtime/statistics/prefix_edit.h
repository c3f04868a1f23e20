// Pairwise prefix edit distance of a group, kept while its rollouts run: an appended action costs one row a sibling.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "runtime/statistics/pair_columns.h"
#include "runtime/statistics/symbol.h"
#include "runtime/statistics/tally.h"

namespace allot::statistics {

// Rollouts may join, advance and end in any order; only the definition counts (allocation.md §3, §14). The prefix of
// length K of a rollout is settled once it has K actions or has ended, and nothing that happens later changes it.
class PrefixEdit {
 public:
  // `longest` is the largest prefix length that will be asked for; actions beyond it cost nothing. Leave it out where
  // the length is the current turn.
  explicit PrefixEdit(int longest = std::numeric_limits<int>::max()) : limit_(longest) {}
  int longest() const { return limit_; }

  // A further rollout, without actions yet; returns its index, 0 for the first.
  int add_rollout();
  void append(int rollout, Symbol action);
  void end(int rollout);
  // The rollout has no part in the group any more (it ended in error). Costs as much as starting over.
  void leave_out(int rollout);

  // Over the pairs of the rollouts that are not left out. Undefined where there is no pair, and where a live rollout
  // has fewer than `prefix` actions. 0 <= prefix <= longest.
  std::optional<PairSummary> at(int prefix, Padding padding, Scale scale) const;

 private:
  struct Member {
    std::vector<Symbol> actions;  // at most limit_
    bool ended = false;
    bool left_out = false;
    int place = 0;  // among those not left out
    int length() const { return static_cast<int>(actions.size()); }
  };

  void join(int index);
  void record(Member& member, Symbol action);
  void settle_action(const Member& member);
  void settle_action_beside_ended(const Member& member);
  void settle_end(Member& member);
  void pad_ended();
  void settle_padding(int place);
  void lengthen_to(int length);
  bool all_ended() const { return ended_ == columns_.count(); }

  int limit_;
  std::vector<Member> members_;
  std::vector<int> order_;  // place → index in members_
  int ended_ = 0;           // of those in order_
  PairColumns columns_;     // by place; ended rollouts go on with END up to the longest

  // What is settled about the prefixes of one length. A pair is in `both`, or in each of the other two.
  struct Settled {
    Tally::Bucket both;  // both rollouts have that many actions: the same padded or not
    Tally padded;        // at least one ended before
    Tally unpadded;
  };
  std::vector<Settled> settled_;         // by prefix length − 1
  std::vector<Tally::Bucket> finished_;  // unpadded, of pairs that both ended: their value at every longer prefix
};

}  // namespace allot::statistics
