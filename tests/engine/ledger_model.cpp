#include "tests/engine/ledger_model.h"

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include <fmt/format.h>

#include "runtime/engine/ledger.h"

namespace allot::engine::bench {
namespace {

using lang::BaseUnit;

constexpr int tokens_per_turn = 16;
constexpr std::array units = {BaseUnit::Rollouts, BaseUnit::Tokens, BaseUnit::Calls, BaseUnit::Seconds};

// What is counted of one unit, in integers (seconds: in quarters, which are exact in binary).
struct Declared {
  BaseUnit unit = BaseUnit::Rollouts;
  std::int64_t amount = 0;
  bool per_run = true;
  bool carry_over = false;
  std::int64_t total = 0;
  std::int64_t spent = 0;
};

struct Member {
  Permit permit;
  bool runs = true;
  int turns = 0;
  bool reserved = true;  // its next turn is
};

struct Group {
  std::vector<Member> members;
  bool waits = false;
  bool rests() const {
    return std::none_of(members.begin(), members.end(), [](const Member& member) { return member.runs; });
  }
};

// The whole of one history's state; copied at a barrier, put back where the process crashes.
struct World {
  std::vector<Declared> declared;
  std::vector<Group> groups;
  Conservation rollouts;
  bool begun = false;
};

class History {
 public:
  History(std::uint64_t seed, LedgerHistory& told) : random_(seed), told_(told) {
    for (const BaseUnit unit : units) {
      for (const bool per_run : {true, false}) {
        if (pick(3) == 0) continue;
        const std::int64_t most = unit == BaseUnit::Tokens ? 4000 : 120;
        Declared each{unit, 10 + pick(most), per_run, !per_run && pick(2) == 0, 0, 0};
        each.total = each.amount * scale(unit);
        world_.declared.push_back(each);
      }
    }
    for (const Declared& each : world_.declared) {
      lang::Budget budget;
      budget.unit = each.unit;
      budget.amount = {lang::ReadArgument::Kind::Integer, "", each.amount};
      budget.per_run = each.per_run;
      budget.carry_over = each.carry_over;
      program_.budgets.push_back(budget);
    }
    ledger_ = fresh();
    begin();
    barrier_ = world_;
    saved_ = ledger_;
  }

  void run(int events) {
    for (; events > 0 && !told_.problem; --events) {
      step();
      ++told_.events;
      check();
    }
    if (!told_.problem) {
      finish();
      check();
    }
  }

 private:
  static std::int64_t scale(BaseUnit unit) { return unit == BaseUnit::Seconds ? 4 : 1; }
  std::int64_t pick(std::int64_t below) { return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(below)); }
  Ledger fresh() const { return Ledger(program_, {}, tokens_per_turn, true); }

  void spend(BaseUnit unit, std::int64_t amount) {
    for (Declared& each : world_.declared) each.spent += each.unit == unit ? amount : 0;
  }

  std::int64_t held(BaseUnit unit) const {
    std::int64_t sum = 0;
    for (const Group& group : world_.groups) {
      for (const Member& member : group.members) {
        if (!member.runs) continue;
        if (unit == BaseUnit::Rollouts) sum += 1;
        if (unit == BaseUnit::Tokens && member.reserved) sum += tokens_per_turn;
        if (unit == BaseUnit::Calls && member.reserved) sum += 1;
      }
    }
    return sum;
  }

  std::int64_t left(const Declared& each) const { return each.total - each.spent - held(each.unit); }

  // One by one, as an author would think of it.
  std::int64_t affordable(std::int64_t wanted) const {
    for (const Declared& each : world_.declared) {
      if (each.unit == BaseUnit::Seconds && left(each) <= 0) return 0;
    }
    for (std::int64_t count = 0; count < wanted; ++count) {
      for (const Declared& each : world_.declared) {
        const std::int64_t need = each.unit == BaseUnit::Tokens ? tokens_per_turn : each.unit == BaseUnit::Seconds ? 0 : 1;
        if (left(each) < (count + 1) * need) return count;
      }
    }
    return wanted;
  }

  void begin() {
    ledger_.begin_iteration();
    for (Declared& each : world_.declared) {
      if (each.per_run || !world_.begun) continue;
      const std::int64_t rest = each.carry_over ? std::max<std::int64_t>(0, each.total - each.spent) : 0;
      each.total = each.amount * scale(each.unit) + rest;
      each.spent = 0;
    }
    world_.begun = true;
    ++told_.iterations;
  }

  void step() {
    switch (pick(12)) {
      case 0: case 1: case 2: return start();
      case 3: case 4: case 5: case 6: return take_turn();
      case 7: return end_one();
      case 8: case 9: return settle_group();
      case 10: return pass_time();
      default: return pick(6) == 0 ? end_iteration() : pick(10) == 0 ? crash() : start();
    }
  }

  void start() {
    const std::int64_t wanted = 1 + pick(5);
    const std::int64_t expected = affordable(wanted);
    const int allowed = ledger_.affordable(static_cast<int>(wanted));
    if (allowed != expected) return fail(fmt::format("{} of {} could be started, not {}", expected, wanted, allowed));
    told_.refused += wanted - allowed;
    if (allowed == 0) return;
    std::vector<Group*> open;
    for (Group& group : world_.groups) {
      if (!group.waits) open.push_back(&group);
    }
    if (open.empty() || pick(3) == 0) {
      world_.groups.emplace_back();
      open = {&world_.groups.back()};
    }
    Group& group = *open[static_cast<std::size_t>(pick(static_cast<std::int64_t>(open.size())))];
    for (int i = 0; i < allowed; ++i) {
      ledger_.start(group.members.emplace_back().permit);
      ++world_.rollouts.started;
      ++world_.rollouts.in_flight;
      ++told_.starts;
    }
  }

  Member* running() {
    std::vector<Member*> all;
    for (Group& group : world_.groups) {
      for (Member& member : group.members) {
        if (member.runs) all.push_back(&member);
      }
    }
    return all.empty() ? nullptr : all[static_cast<std::size_t>(pick(static_cast<std::int64_t>(all.size())))];
  }

  void end(Member& member, bool charge) {
    ledger_.end(member.permit, charge);
    member.runs = false;
    if (charge) spend(BaseUnit::Rollouts, 1);
  }

  void take_turn() {
    Member* const member = running();
    if (member == nullptr || !member->reserved) return;
    Turn turn;
    turn.tokens = static_cast<int>(pick(tokens_per_turn + 1));
    turn.calls = static_cast<int>(pick(2));
    ledger_.settle(member->permit, turn);
    member->reserved = false;
    spend(BaseUnit::Tokens, turn.tokens);
    spend(BaseUnit::Calls, turn.calls);
    ++member->turns;
    ++told_.settled;
    if (pick(4) == 0) return;  // its last turn: the ending follows
    bool covered = true;
    for (const Declared& each : world_.declared) {
      if (each.unit == BaseUnit::Tokens) covered = covered && left(each) >= tokens_per_turn;
      if (each.unit == BaseUnit::Calls) covered = covered && left(each) >= 1;
    }
    if (ledger_.reserve_turn(member->permit) != covered) return fail("a turn was covered, or not, against the model");
    member->reserved = covered;
    if (!covered) end(*member, true);
  }

  // Completed, aborted, timed out or in error: charged. Stopped before its first turn: not.
  void end_one() {
    if (Member* const member = running()) end(*member, pick(2) == 0 || member->turns > 0);
  }

  void settle_group() {
    if (world_.groups.empty()) return;
    const auto at = static_cast<std::size_t>(pick(static_cast<std::int64_t>(world_.groups.size())));
    Group& group = world_.groups[at];
    const auto size = static_cast<std::int64_t>(group.members.size());
    if (group.waits) {
      ledger_.resume_group(static_cast<int>(size));
      world_.rollouts.deferred -= size;
      world_.rollouts.in_flight += size;
      group.waits = false;
      return;
    }
    if (pick(2) == 0) {  // a stop of the whole group
      for (Member& member : group.members) {
        if (member.runs) end(member, member.turns > 0);
      }
    }
    if (!group.rests()) return;
    if (pick(5) == 0) {
      ledger_.defer_group(static_cast<int>(size));
      world_.rollouts.in_flight -= size;
      world_.rollouts.deferred += size;
      group.waits = true;
      ++told_.deferred;
      return;
    }
    close(at);
  }

  void close(std::size_t at) {
    const auto size = static_cast<std::int64_t>(world_.groups[at].members.size());
    constexpr std::array fates = {Fate::Trained, Fate::Dropped, Fate::Surplus, Fate::Cancelled};
    const Fate fate = fates[static_cast<std::size_t>(pick(4))];
    ledger_.close_group(fate, static_cast<int>(size));
    world_.rollouts.in_flight -= size;
    (fate == Fate::Trained ? world_.rollouts.accepted : fate == Fate::Dropped ? world_.rollouts.dropped : world_.rollouts.cancelled) += size;
    ++(fate == Fate::Trained ? told_.accepted : fate == Fate::Dropped ? told_.dropped : told_.cancelled);
    world_.groups.erase(world_.groups.begin() + static_cast<std::ptrdiff_t>(at));
  }

  void pass_time() {
    const std::int64_t quarters = pick(6);
    ledger_.seconds_passed(static_cast<double>(quarters) / 4);
    spend(BaseUnit::Seconds, quarters);
  }

  // Everybody ends, by whatever path; groups that wait stay.
  void end_iteration() {
    for (Group& group : world_.groups) {
      for (Member& member : group.members) {
        if (member.runs) end(member, member.turns > 0);
      }
    }
    for (std::size_t at = world_.groups.size(); at-- > 0;) {
      if (!world_.groups[at].waits) close(at);
    }
    barrier_ = world_;
    saved_ = ledger_;
    begin();
  }

  // The process ends; another takes up where the last barrier was.
  void crash() {
    world_ = barrier_;
    ledger_ = fresh();
    ledger_.restore(saved_.accounts(), saved_.conservation(), saved_.begun(), saved_.overruns());
    if (world_.rollouts.started > 0 || !world_.groups.empty()) ++told_.crashes;
    if (saved_.accounts().empty() || world_.begun) begin();
  }

  void finish() {
    for (Group& group : world_.groups) {
      if (group.waits) {
        const auto size = static_cast<std::int64_t>(group.members.size());
        ledger_.resume_group(static_cast<int>(size));
        world_.rollouts.deferred -= size;
        world_.rollouts.in_flight += size;
        group.waits = false;
      }
    }
    end_iteration();
    for (const Account& account : ledger_.accounts()) {
      if (account.reserved != 0) fail(fmt::format("{} {} are reserved for nobody", account.reserved, lang::name(account.unit)));
    }
    if (ledger_.conservation().in_flight != 0) fail("rollouts are in flight when everybody has ended");
  }

  void check() {
    const Conservation& is = ledger_.conservation();
    const Conservation& should = world_.rollouts;
    if (!is.holds()) fail("rollouts were lost");
    if (is.started != should.started || is.accepted != should.accepted || is.dropped != should.dropped ||
        is.cancelled != should.cancelled || is.deferred != should.deferred || is.in_flight != should.in_flight) {
      fail("rollouts went elsewhere than in the model");
    }
    for (std::size_t i = 0; i < world_.declared.size(); ++i) {
      const Declared& each = world_.declared[i];
      const Account& account = ledger_.accounts()[i];
      const auto as = [&](std::int64_t amount) { return static_cast<double>(amount) / static_cast<double>(scale(each.unit)); };
      if (account.spent != as(each.spent) || account.total != as(each.total) || account.reserved != as(held(each.unit))) {
        fail(fmt::format("{} per {}: total {}, spent {}, reserved {}, but by the model {}, {}, {}", lang::name(each.unit),
                         each.per_run ? "run" : "iteration", account.total, account.spent, account.reserved, as(each.total),
                         as(each.spent), as(held(each.unit))));
      }
      if (each.unit != BaseUnit::Seconds && account.reserved + account.spent > account.total) {
        fail(fmt::format("{} are overrun", lang::name(each.unit)));
      }
    }
  }

  void fail(std::string what) {
    if (!told_.problem) told_.problem = fmt::format("event {}: {}", told_.events, what);
  }

  std::mt19937_64 random_;
  LedgerHistory& told_;
  lang::Program program_;
  World world_, barrier_;
  Ledger ledger_, saved_;
};

}  // namespace

LedgerHistory random_ledger_history(std::uint64_t seed, std::int64_t events) {
  LedgerHistory told;
  std::mt19937_64 seeds(seed);
  while (told.events < events && !told.problem) {
    const std::uint64_t own = seeds();
    const auto length = static_cast<int>(std::min<std::int64_t>(events - told.events, 100 + static_cast<std::int64_t>(own % 900)));
    History(own, told).run(length);
    if (told.problem) *told.problem += fmt::format(" (history of seed {})", own);
  }
  return told;
}

}  // namespace allot::engine::bench
