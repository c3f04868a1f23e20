// Properties of the built-in world. Expected values are derived from its rules (runtime/worlds/household), not from
// its output: limits of words, conservation, solvability, determinism, disjoint splits.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include "runtime/worlds/household/action.h"
#include "runtime/worlds/household/expert.h"
#include "runtime/worlds/household/household.h"
#include "runtime/worlds/household/task_maker.h"

using namespace allot::worlds;
using namespace allot::worlds::household;

namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::unique_ptr<World> small_world(int training = 240, int held_out = 60) {
  Options options;
  options.training_tasks = training;
  options.held_out_tasks = held_out;
  auto made = make_household(options);
  REQUIRE(made);
  return *std::move(made);
}

// Every action there is, possible or not, plus lines that are none.
std::vector<std::string> all_lines() {
  std::vector<std::string> lines{"look", "use lamp", "", "go", "put egg", "dance", "take egg egg", "use egg"};
  for (const auto& receptacle : receptacle_types()) {
    for (const char* verb : {"go ", "open ", "close "}) lines.push_back(verb + std::string(receptacle.name));
    for (const auto& object : object_types()) {
      lines.push_back("put " + std::string(object.name) + " " + std::string(receptacle.name));
    }
  }
  for (const auto& object : object_types()) {
    for (const char* verb : {"take ", "clean ", "heat ", "cool "}) lines.push_back(verb + std::string(object.name));
  }
  for (const char* room : {"kitchen", "lounge", "bedroom", "bathroom"}) lines.push_back(std::string("go ") + room);
  return lines;
}

std::map<int, int> count_types(const House& house) {
  std::map<int, int> counts;
  for (const auto& object : house.objects) ++counts[object.type];
  return counts;
}

}  // namespace

TEST_CASE("an action's text is canonical and short") {
  int parsed = 0;
  for (const auto& line : all_lines()) {
    const auto action = parse(line);
    if (!action) continue;
    ++parsed;
    CHECK(text(*action) == line);
    CHECK(parse(text(*action)) == action);
    CHECK(words_of(line).size() <= 3);
  }
  // 21 receptacles x 3 verbs, 23 objects x 21 receptacles, 23 objects x 4 verbs, 4 rooms, look, use lamp.
  CHECK(parsed == 21 * 3 + 23 * 21 + 23 * 4 + 4 + 2);
  CHECK(parse("  go   fridge ") == parse("go fridge"));
  for (const char* line : {"", " ", "go", "go nowhere", "go drawer", "GO fridge", "put egg", "look bed", "use egg"}) {
    CHECK_FALSE(parse(line));
  }
}

TEST_CASE("the expert solves 1,000 tasks of each kind: near and scattered ones within the limit, far ones never") {
  const Difficulty difficulty;
  const auto binomial = [](int count, int of, double share) {  // within six standard deviations of its mean
    return std::abs(count - of * share) < 6 * std::sqrt(of * share * (1 - share)) + 1e-9;
  };
  for (int k = 0; k < kind_count; ++k) {
    const auto kind = static_cast<Kind>(k);
    int far = 0, scattered = 0, near_missed = 0;
    for (std::uint64_t seed = 0; seed < 1000; ++seed) {
      const MadeHouse made = make_house(kind, seed * 7919 + 13, difficulty);
      const int turns = expert_turns(made.house, 60);
      CHECK(turns == made.expert_turns);
      far += made.distance == Distance::Far ? 1 : 0;
      scattered += made.distance == Distance::Scattered ? 1 : 0;
      if (made.distance == Distance::Far) {
        CHECK(turns > 30);
      } else {
        REQUIRE(turns <= 30);
        near_missed += made.distance == Distance::Near && turns > difficulty.near.max_turns ? 1 : 0;
      }
    }
    INFO(name(kind) << ": far " << far << ", scattered " << scattered);
    // Only food, dishes, cutlery and washing things are cleaned; only food and dishes are heated or cooled.
    const bool treated = kind == Kind::Clean || kind == Kind::Heat || kind == Kind::Cool;
    CHECK(binomial(scattered, 1000, treated ? 0.0 : difficulty.scattered_share));
    CHECK(binomial(far, 1000 - scattered, difficulty.far_share));
    CHECK(near_missed == 0);
  }
}

TEST_CASE("what has its place is searched for in the same order by all, what lies about is not") {
  const auto first_visit = [](House house, std::uint64_t whim) {
    house.whim = whim;
    return text(expert(house));
  };
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const MadeHouse made = make_house(Kind::Put, seed, {});
    std::set<std::string> visits;
    for (std::uint64_t whim = 0; whim < 40; ++whim) visits.insert(first_visit(made.house, whim));
    // 7 receptacles and more: 40 independent draws that agree have a chance below 7^-39.
    CHECK((visits.size() > 1) == (made.distance == Distance::Scattered));
  }
}

TEST_CASE("the expert solves every task from any state") {
  const auto lines = all_lines();
  std::mt19937_64 random(5);
  int solved_at_random = 0;
  for (int round = 0; round < 3000; ++round) {
    House house = make_house(static_cast<Kind>(round % kind_count), random(), {}).house;
    const auto prefix = random() % 60;
    for (std::uint64_t i = 0; i < prefix && !house.solved(); ++i) {
      // Half of the prefix is purposeful, so that states deep in a task are reached as well.
      const auto action = random() % 2 == 0 ? std::optional(expert(house)) : parse(lines[random() % lines.size()]);
      if (action) apply(house, *action);
    }
    solved_at_random += house.solved() ? 1 : 0;
    INFO(introduction(house));
    // Nothing learnt, all closed, junk in hand: at most 18 x (go, open), 2 x (take, go, open, put), 3 to put away.
    REQUIRE(expert_turns(house, 47) <= 47);
  }
  CHECK(solved_at_random < 2700);
}

TEST_CASE("observations stay within vocabulary and length in random and expert episodes") {
  const auto world = small_world();
  const auto list = world->vocabulary();
  const std::set<std::string> vocabulary(list.begin(), list.end());
  CHECK(vocabulary.size() == list.size());
  CHECK(vocabulary.size() < 120);
  auto session = *world->open();
  const auto lines = all_lines();
  std::mt19937_64 random(1);
  std::size_t longest = 0, longest_first = 0, observations = 0, total = 0, first_total = 0, episodes = 0;
  const auto check_words = [&](const std::string& text) {
    for (const auto& word : words_of(text)) {
      if (!vocabulary.contains(word)) FAIL("not in the vocabulary: " << word << " in: " << text);
    }
    return words_of(text).size();
  };
  for (int episode = 0; episode < 4000; ++episode) {
    const auto tasks = world->tasks(episode % 4 == 0 ? Split::HeldOut : Split::Training);
    const Task& task = tasks[random() % tasks.size()];
    auto reply = session->reset(task);
    REQUIRE(reply);
    const std::size_t first = check_words(reply->observation);
    longest_first = std::max(longest_first, first);
    first_total += first;
    ++episodes;
    const auto expert_share = random() % 11;  // from pure random to pure expert
    for (int turn = 0; turn < world->turn_limit() && !reply->done; ++turn) {
      const std::string line =
          random() % 10 < expert_share ? session->expert_action().value() : lines[random() % lines.size()];
      reply = session->act(line);
      REQUIRE(reply);
      const std::size_t count = check_words(reply->observation);
      longest = std::max(longest, count);
      total += count;
      ++observations;
      if (reply->valid) {
        check_words(reply->action);
        CHECK(reply->action == line);
      } else {
        CHECK(reply->action == "invalid");
        CHECK_FALSE(parse(line));
      }
      CHECK(reply->done == reply->reward.has_value());
    }
    CHECK(session->score().operator*() == (reply->done ? 1.0 : 0.0));
  }
  CHECK(longest <= 16);  // 14 and "task done"
  CHECK(longest_first <= 40);
  WARN("vocabulary " << vocabulary.size() << " words; first observation mean " << double(first_total) / double(episodes)
                     << ", at most " << longest_first << "; later ones mean " << double(total) / double(observations)
                     << ", at most " << longest);
}

TEST_CASE("objects are conserved, and taking or putting moves exactly one") {
  const auto lines = all_lines();
  std::mt19937_64 random(2);
  int takes = 0, puts = 0;
  for (int round = 0; round < 600; ++round) {
    House house = make_house(static_cast<Kind>(round % kind_count), random(), {}).house;
    const auto counts = count_types(house);
    for (int turn = 0; turn < 60; ++turn) {
      const auto action = random() % 3 == 0 ? std::optional(expert(house)) : parse(lines[random() % lines.size()]);
      if (!action) continue;
      const House before = house;
      const std::string seen = apply(house, *action);
      REQUIRE(count_types(house) == counts);
      int moved = 0, in_hand = 0;
      for (std::size_t i = 0; i < house.objects.size(); ++i) {
        const auto& object = house.objects[i];
        REQUIRE(object.where >= held);
        REQUIRE(object.where < static_cast<int>(house.receptacles.size()));
        in_hand += object.where == held ? 1 : 0;
        if (object.where == before.objects[i].where) continue;
        ++moved;
        CHECK(object.type == action->object);
        if (action->verb == Verb::Take) CHECK((object.where == held && before.objects[i].where == house.at));
        if (action->verb == Verb::Put) CHECK((object.where == house.at && before.objects[i].where == held));
      }
      REQUIRE(in_hand <= 1);
      const bool moves = (action->verb == Verb::Take || action->verb == Verb::Put) && seen != "nothing happens";
      REQUIRE(moved == (moves ? 1 : 0));
      takes += moves && action->verb == Verb::Take ? 1 : 0;
      puts += moves && action->verb == Verb::Put ? 1 : 0;
      if (house.solved()) break;
    }
  }
  CHECK(takes > 300);
  CHECK(puts > 100);
}

TEST_CASE("what lies in a closed receptacle is not seen, taken or known to the expert") {
  int closed_targets = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    House house = make_house(Kind::Put, seed, {}).house;
    const auto target = std::ranges::find(house.objects, house.goal.object, &Object::type);
    REQUIRE(target != house.objects.end());
    const auto& receptacle = house.receptacles[static_cast<std::size_t>(target->where)];
    if (receptacle.open) continue;
    ++closed_targets;
    const std::string place(receptacle_types()[static_cast<std::size_t>(receptacle.type)].name);
    const std::string object(object_types()[static_cast<std::size_t>(target->type)].name);
    CHECK(apply(house, *parse("go " + place)) == place + " is closed");
    CHECK(apply(house, *parse("take " + object)) == "nothing happens");
    CHECK(apply(house, *parse("open " + place)).find(object) != std::string::npos);
    CHECK(apply(house, *parse("take " + object)) == "you take " + object);
  }
  CHECK(closed_targets > 30);
  // The expert's choice may not depend on what it has not seen: move the object between two unseen receptacles.
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    House house = make_house(Kind::Heat, seed, {}).house;
    House other = house;
    for (auto& object : other.objects) object.where = (object.where + 1) % static_cast<int>(house.receptacles.size());
    CHECK(expert(house) == expert(other));
  }
}

TEST_CASE("the same task gives the same text, in any session and any world of the same options") {
  const auto first = small_world();
  const auto second = small_world(300, 60);  // more training tasks change neither held-out nor earlier ones
  auto a = *first->open();
  auto b = *second->open();
  for (const Split split : {Split::HeldOut, Split::Training}) {
    for (std::size_t i = 0; i < first->tasks(split).size(); ++i) {
      const Task& task = first->tasks(split)[i];
      REQUIRE(task.id == second->tasks(split)[i].id);
      auto x = a->reset(task);
      auto y = b->reset(second->tasks(split)[i]);
      REQUIRE((x && y));
      while (!x->done) {
        REQUIRE(x->observation == y->observation);
        const auto action = a->expert_action();
        REQUIRE(action == b->expert_action());
        x = a->act(*action);
        y = b->act(*action);
      }
      CHECK(x->reward == 1.0);
      CHECK_FALSE(a->expert_action());
      CHECK_FALSE(a->act("look"));
    }
  }
}

TEST_CASE("training and held-out tasks are disjoint by content, and enough of both") {
  auto made = make_household();
  REQUIRE(made);
  const auto& world = *made;
  CHECK(world->tasks(Split::HeldOut).size() >= 400);
  CHECK(world->tasks(Split::Training).size() >= 1000);
  CHECK(world->turn_limit() == 30);
  std::set<std::string> prints, texts, ids;
  std::map<std::string, int> kinds;
  std::size_t total = 0;
  auto session = *world->open();
  for (const Split split : {Split::HeldOut, Split::Training}) {
    for (const Task& task : world->tasks(split)) {
      ++total;
      ++kinds[task.kind];
      ids.insert(task.id);
      for (int k = 0; k < kind_count; ++k) {
        if (name(static_cast<Kind>(k)) != task.kind) continue;
        prints.insert(fingerprint(make_house(static_cast<Kind>(k), task.seed, {}).house));
      }
    }
  }
  CHECK(prints.size() == total);
  CHECK(ids.size() == total);
  CHECK(kinds.size() == 6);
}

TEST_CASE("two houses that differ in distractors alone are one task") {
  House house = make_house(Kind::Clean, 4, {}).house;
  House other = house;
  std::erase_if(other.objects, [&](const Object& o) { return o.type != house.goal.object; });
  CHECK(fingerprint(house) == fingerprint(other));
  House elsewhere = house;
  for (auto& object : elsewhere.objects) object.where = (object.where + 1) % static_cast<int>(house.receptacles.size());
  CHECK(fingerprint(house) != fingerprint(elsewhere));
}

TEST_CASE("difficulty does what its numbers say") {
  const Difficulty all_near{.scattered_share = 0, .far_share = 0};
  const Difficulty all_far{.scattered_share = 0, .far_share = 1};
  const Difficulty all_scattered{.scattered_share = 1, .far_share = 0};
  const auto within = [](const MadeHouse& made, const Level& level) {
    const int receptacles = static_cast<int>(made.house.receptacles.size());
    CHECK(receptacles >= level.min_receptacles);
    CHECK(receptacles <= level.max_receptacles);
    CHECK(made.expert_turns >= level.min_turns);
    CHECK(made.expert_turns <= level.max_turns);
  };
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    within(make_house(Kind::Put, seed, all_near), all_near.near);
    within(make_house(Kind::Put, seed, all_far), all_far.far);
    within(make_house(Kind::Put, seed, all_scattered), all_scattered.scattered);
  }
}

TEST_CASE("options out of range and unknown tasks are errors that say what to do") {
  Options options;
  options.difficulty.far.closed = 1.5;
  const auto made = make_household(options);
  REQUIRE_FALSE(made);
  CHECK(made.error().what.find("far") != std::string::npos);
  CHECK(made.error().help.find("difficulty.h") != std::string::npos);
  const auto world = small_world();
  auto session = *world->open();
  CHECK_FALSE(session->act("look"));
  CHECK_FALSE(session->reset({.id = "x", .kind = "wash", .seed = 1}));
}
