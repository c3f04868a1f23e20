#include "runtime/trial/consistent.h"

#include <array>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "lang/facts.h"
#include "runtime/trial/claims.h"
#include "runtime/trial/expected.h"

namespace allot::trial {
namespace {

using lang::Cell;
using lang::Fact;

class Consistency {
 public:
  Consistency(const Record& record, const engine::RunFacts& run) : record_(record), run_(run) {}

  Result<void> check() const {
    if (record_.fields.contains("rewards")) {
      if (auto follows = check_rewards(); !follows) return follows;
    }
    constexpr std::array parts{Fact::Hits, Fact::Misses, Fact::Scored, Fact::Alive, Fact::Ended, Fact::Errors};
    for (const Fact part : parts) {
      const bool of_scored = part == Fact::Hits || part == Fact::Misses;
      if (auto fits = at_most(part, of_scored ? Fact::Scored : Fact::Started); !fits) return fits;
    }
    if (auto fits = adds_up(Fact::Hits, Fact::Misses, Fact::Scored); !fits) return fits;
    if (auto fits = adds_up(Fact::Alive, Fact::Ended, Fact::Started); !fits) return fits;
    if (auto fits = at_most(Fact::RewardMin, Fact::RewardMean); !fits) return fits;
    if (auto fits = at_most(Fact::RewardMean, Fact::RewardMax); !fits) return fits;
    if (auto fits = check_rate(); !fits) return fits;
    return check_rollouts(parts);
  }

 private:
  static std::string name(Fact fact) { return "`" + std::string(lang::row(fact).name) + "`"; }

  bool given(Fact fact) const { return record_.fields.contains(std::string(lang::row(fact).name)); }

  Cell followed(Fact fact) const {
    lang::ReadKey key;
    key.fact = fact;
    key.type = lang::row(fact).type;
    return engine::group_fact(key, record_.group->facts(record_.turn), run_);
  }

  // Undefined where nothing says it.
  std::optional<double> value(Fact fact) const {
    const auto said = record_.facts.find(fact);
    const lang::Type& type = lang::row(fact).type;
    const Cell cell = said != record_.facts.end() ? said->second.cell(type.base) : followed(fact);
    if (!cell.defined) return std::nullopt;
    return type.base == lang::Base::Real ? cell.real() : static_cast<double>(cell.integer());
  }

  Result<void> check_rewards() const {
    constexpr std::array of_rewards{Fact::Scored,    Fact::Flat,      Fact::RewardMean,     Fact::RewardMin,
                                    Fact::RewardMax, Fact::RewardSum, Fact::RewardVariance, Fact::RewardStd};
    constexpr std::array of_hits{Fact::Hits, Fact::Misses, Fact::HitRate};
    for (const Fact fact : of_rewards) {
      if (auto follows = check_followed(fact); !follows) return follows;
    }
    for (const Fact fact : of_hits) {
      if (!run_.program->hit) break;
      if (auto follows = check_followed(fact); !follows) return follows;
    }
    return {};
  }

  Result<void> check_followed(Fact fact) const {
    if (!given(fact)) return {};
    const Value& said = record_.facts.at(fact);
    const lang::Type& type = lang::row(fact).type;
    const Cell cell = said.cell(type.base), follows = followed(fact);
    const bool real = type.base == lang::Base::Real;
    const bool same = cell.defined == follows.defined &&
                      (!cell.defined || (real ? near(cell.real(), follows.real()) : cell.integer() == follows.integer()));
    if (same) return {};
    return Error{fmt::format("{} is {}, and by `rewards` it is {}.", name(fact), show(said), lang::show(follows, type)),
                 "leave it out: it follows"};
  }

  Result<void> at_most(Fact part, Fact whole) const {
    const auto less = value(part), more = value(whole);
    if (!given(part) && !given(whole)) return {};
    if (!less || !more || *less <= *more || near(*less, *more)) return {};
    return Error{fmt::format("{} is {}, and {} {}.", name(part), *less, name(whole), *more), "there is no such group"};
  }

  // Where all three are given, or both parts are too many. A rollout may be neither a hit nor a miss.
  Result<void> adds_up(Fact a, Fact b, Fact whole) const {
    const bool hits = whole == Fact::Scored;
    if (!given(a) || !given(b)) return {};
    const auto first = value(a), second = value(b), sum = value(whole);
    if (!first || !second || !sum) return {};
    if (hits ? *first + *second <= *sum : *first + *second == *sum) return {};
    return Error{fmt::format("{} is {} and {} {}, and {} {}.", name(a), *first, name(b), *second, name(whole), *sum),
                 "there is no such group"};
  }

  Result<void> check_rate() const {
    if (!given(Fact::HitRate) || (!given(Fact::Hits) && !given(Fact::Misses))) return {};
    const auto rate = value(Fact::HitRate), hits = value(Fact::Hits), scored = value(Fact::Scored);
    if (!rate || !hits || !scored || *scored == 0 || near(*rate, *hits / *scored)) return {};
    return Error{fmt::format("`hit_rate` is {}, with {} hits of {} scored.", *rate, *hits, *scored), "leave it out: it follows"};
  }

  // Lists, or `started`, say how many rollouts there are; one that is scored has ended.
  Result<void> check_rollouts(std::span<const Fact> parts) const {
    const auto rollouts = static_cast<double>(record_.group->log.rollouts.size());
    if (rollouts == 0) return {};
    for (const Fact part : parts) {
      const auto count = value(part);
      if (!given(part) || !count || *count <= rollouts) continue;
      return Error{fmt::format("{} is {}, and the lists are of {} rollouts.", name(part), *count, rollouts),
                   "there is no such group"};
    }
    const auto alive = value(Fact::Alive), scored = value(Fact::Scored);
    if (!given(Fact::Alive) || !alive || !scored || *alive + *scored <= rollouts) return {};
    return Error{fmt::format("{} is {} and {} {}, of {} rollouts.", name(Fact::Alive), *alive, name(Fact::Scored), *scored, rollouts),
                 "there is no such group: a rollout that is scored has ended"};
  }

  const Record& record_;
  const engine::RunFacts& run_;
};

}  // namespace

Result<void> consistent(const Record& record, const engine::RunFacts& run) { return Consistency(record, run).check(); }

}  // namespace allot::trial
