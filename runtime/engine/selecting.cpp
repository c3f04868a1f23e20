// Which prompts an iteration may open, and in which order.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "runtime/engine/live_engine.h"
#include "runtime/math/random.h"

namespace allot::engine {

Result<void> LiveEngine::set_pool(std::vector<PoolPrompt> prompts) {
  if (auto parents = run_lock_.of_parent()) return *parents;
  const Event event(*this);
  if (in_iteration_) return Error{"The pool cannot change while an iteration runs.", "call set_pool between two"};
  std::set<std::string_view> keys;
  for (const PoolPrompt& prompt : prompts) {
    if (!keys.insert(prompt.key).second) {
      return Error{"The pool holds the prompt " + prompt.key + " twice.", "give each prompt one name"};
    }
  }
  if (policy_) {
    const std::vector<std::string> names(keys.begin(), keys.end());
    if (auto fits = check_inputs(policy_->program(), settings_.inputs, names); !fits) return fits;
  }
  if (prompts != pool_.prompts()) audit_.pool(iteration_, prompts);
  pool_.assign(std::move(prompts));
  return {};
}

// Neither evicted nor with a group that waits.
std::vector<std::string> LiveEngine::drawable(const std::vector<std::string>& prompts) const {
  std::set<std::string_view> waiting;
  for (const auto& [number, group] : groups_) {
    if (group->deferred) waiting.insert(group->log.prompt);
  }
  std::vector<std::string> left;
  for (const std::string& prompt : prompts) {
    if (!pool_.away(pool_.history(prompt)) && !waiting.contains(prompt)) left.push_back(prompt);
  }
  return left;
}

// The whole pool as a handler sees it; without one, the prompts of the iteration stand for it.
BatchFacts LiveEngine::pool_facts(const std::vector<std::string>& prompts) const {
  BatchFacts facts;
  facts.of_pool = true;
  if (pool_.given()) {
    for (const PoolPrompt& prompt : pool_.prompts()) facts.distinct.push_back(prompt.key);
  } else {
    std::set<std::string_view> seen;
    for (const std::string& prompt : prompts) {
      if (seen.insert(prompt).second) facts.distinct.push_back(prompt);
    }
  }
  describe(facts);
  for (const PromptFacts& prompt : facts.known) {
    if (!prompt.evicted && !prompt.deferred) facts.pool.push_back(prompt.position);
  }
  return facts;
}

// What is known of the prompts of a question.
void LiveEngine::describe(BatchFacts& batch) const {
  std::set<std::string_view> waiting;
  for (const auto& [number, group] : groups_) {
    if (group->deferred) waiting.insert(group->log.prompt);
  }
  batch.known.clear();
  for (std::size_t i = 0; i < batch.distinct.size(); ++i) {
    PromptFacts prompt;
    prompt.key = &batch.distinct[i];
    prompt.history = &pool_.history(batch.distinct[i]);
    prompt.described = pool_.find(batch.distinct[i]);
    prompt.position = static_cast<std::int64_t>(i);
    prompt.category = batch.category_place(prompt.described != nullptr ? prompt.described->category : "");
    prompt.evicted = pool_.away(*prompt.history);
    prompt.deferred = waiting.contains(batch.distinct[i]);
    batch.known.push_back(prompt);
  }
}

void LiveEngine::count_pool(const BatchFacts& pool) {
  drawable_ = static_cast<std::int64_t>(pool.pool.size());
  known_ = static_cast<std::int64_t>(pool.distinct.size());
}

namespace {

// Positions into `pool`, the one with the highest score first; undefined ones last, ties to the lower index.
std::vector<std::size_t> by_score(const std::vector<std::optional<double>>& scores) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (scores[a].has_value() != scores[b].has_value()) return scores[a].has_value();
    return scores[a] && *scores[a] > *scores[b];
  });
  return order;
}

// Sampling without replacement in proportion to weights, as one order: ascending in −ln(u)/w (Efraimidis and Spirakis,
// "Weighted random sampling with a reservoir", 2006). What weighs nothing is left out. A prompt's u is its own.
std::vector<std::size_t> by_weight(const std::vector<std::optional<double>>& weights,
                                   const std::vector<std::string>& prompts, std::uint64_t seed, int iteration) {
  std::vector<double> keys(weights.size(), std::numeric_limits<double>::infinity());
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!weights[i] || *weights[i] <= 0) continue;
    const double u = math::uniform(math::combine(seed, math::hash_text(prompts[i])),
                                   static_cast<std::uint64_t>(iteration), 0);
    keys[i] = -std::log1p(-u) / *weights[i];
    order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
  return order;
}

}  // namespace

// The select order and how many of it are opened for a whole batch.
LiveEngine::Selection LiveEngine::select(const std::vector<std::string>& prompts) {
  Selection usual{drawable(prompts), settings_.slots};
  const int handler = judge_ ? points_.find(lang::Point::Select, lang::Subject::Pool) : no_handler;
  if (handler == no_handler) return usual;
  const BatchFacts facts = pool_facts(prompts);
  count_pool(facts);
  const Decision decision = consult_batch(handler, facts);
  const Verdict& verdict = decision.verdict;
  if (shadow() || verdict.rule < 0 || verdict.take == lang::Take::None) return usual;
  std::vector<std::string> pool;
  for (const std::int64_t position : facts.pool) pool.push_back(facts.distinct[static_cast<std::size_t>(position)]);
  Selection chosen;
  const auto add = [&](const std::vector<std::size_t>& order) {
    for (const std::size_t place : order) chosen.order.push_back(pool[place]);
  };
  const std::int64_t most = std::min<std::int64_t>(static_cast<std::int64_t>(pool.size()), 1 << 20);
  chosen.count = static_cast<int>(std::clamp<std::int64_t>(verdict.amount(), 0, most));
  switch (verdict.take) {
    case lang::Take::Best: add(by_score(verdict.scores)); break;
    case lang::Take::Weighted: {
      const std::uint64_t seed = math::combine(settings_.seed, math::hash_text("select"));
      add(by_weight(verdict.scores, pool, math::combine(seed, math::hash_text(policy_->program().name)), iteration_));
      break;
    }
    default: {  // the host's order, then what it did not name
      std::set<std::string_view> allowed(pool.begin(), pool.end());
      if (verdict.take == lang::Take::Where) {
        allowed.clear();
        for (const int place : verdict.taken) allowed.insert(pool[static_cast<std::size_t>(place)]);
        chosen.count = settings_.slots;
      }
      for (const auto* names : {&usual.order, &pool}) {
        for (const std::string& prompt : *names) {
          if (allowed.erase(prompt) > 0) chosen.order.push_back(prompt);
        }
      }
    }
  }
  chosen.count = std::min(chosen.count, static_cast<int>(chosen.order.size()));
  return chosen;
}

}  // namespace allot::engine
