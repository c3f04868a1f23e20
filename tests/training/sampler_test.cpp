#include "runtime/training/sampler.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "runtime/training/decoder.h"
#include "runtime/training/sampling.h"
#include "tests/training/helpers.h"

using namespace allot::training;

namespace {

constexpr int kEnd = 4;
constexpr int kTurns = 5;

SamplerOptions options(int rows) {
  SamplerOptions o;
  o.seed = 99, o.end_token = kEnd, o.rows = rows, o.max_context = 160, o.threads = 2;
  return o;
}

Sampler sampler(const Model& model, SamplerOptions o) {
  auto made = Sampler::make(model, o);
  if (!made) throw std::runtime_error(made.error().text());
  return *std::move(made);
}

// What a rollout's world would say: a function of the rollout and the turn, of unequal lengths.
std::vector<int> observation(const Model& model, int id, int turn) {
  const auto seed = static_cast<std::uint64_t>(1000 * id + turn);
  return random_tokens(1 + random_below(6, seed, 0), model.config().vocab_size, seed);
}

struct Trace {
  std::vector<int> tokens;
  std::vector<float> figures;  // log-probability and entropy of each sampled token
  friend bool operator==(const Trace&, const Trace&) = default;
};

// Drives rollouts id = 0 .. count-1 for kTurns turns each with at most `rows` of them in the sampler at once; a row
// that ends is replaced at once. `stop_at`: rollouts that leave in the middle of a turn, after so many tokens.
std::map<int, Trace> roll(const Model& model, Sampler s, int count, const std::map<int, int>& stop_at = {}) {
  std::map<int, Trace> traces;
  std::map<int, int> turns;
  int next = 0;
  const auto fill = [&] {
    while (s.free_rows() > 0 && next < count) {
      REQUIRE(s.add(next, 7000 + static_cast<std::uint64_t>(next), observation(model, next, 50)));
      REQUIRE(s.begin_action(next, 4));
      ++next;
    }
  };
  for (fill(); s.rows() > 0; fill()) {
    const auto step = s.step();
    const std::vector<SampledToken> copy(step.begin(), step.end());
    for (const SampledToken& t : copy) {
      Trace& trace = traces[t.id];
      trace.figures.insert(trace.figures.end(), {t.logprob, t.entropy});
      const auto stop = stop_at.find(t.id);
      if (stop != stop_at.end() && static_cast<int>(trace.figures.size()) / 2 >= stop->second) {
        s.remove(t.id);
        continue;
      }
      if (!t.action_ended) continue;
      const auto so_far = s.tokens(t.id);
      trace.tokens.assign(so_far.begin(), so_far.end());
      if (++turns[t.id] == kTurns) {
        s.remove(t.id);
        continue;
      }
      REQUIRE(s.extend(t.id, observation(model, t.id, turns[t.id])));
      REQUIRE(s.begin_action(t.id, 4));
    }
  }
  return traces;
}

}  // namespace

TEST_CASE("What a rollout samples does not depend on who shares the batch, bit for bit") {
  ModelConfig config = small_config();
  SECTION("grouped queries") {}
  SECTION("one key-value head") { config.heads = 6, config.kv_heads = 1; }
  const Model model = small_model(3, config);
  const auto together = roll(model, sampler(model, options(13)), 13);
  REQUIRE(together.size() == 13);
  SECTION("few at a time, slots refilled") { CHECK(roll(model, sampler(model, options(3)), 13) == together); }
  SECTION("each alone") { CHECK(roll(model, sampler(model, options(1)), 13) == together); }
  SECTION("one thread") {
    SamplerOptions one = options(13);
    one.threads = 1;
    CHECK(roll(model, sampler(model, one), 13) == together);
  }
  SECTION("some leave in the middle") {
    const auto left = roll(model, sampler(model, options(5)), 13, {{0, 3}, {4, 1}, {7, 5}});
    for (const auto& [id, trace] : together)
      if (id != 0 && id != 4 && id != 7) CHECK(left.at(id) == trace);
    CHECK(left.at(0).figures.size() == 6);
  }
  SECTION("another seed samples something else") {
    SamplerOptions other = options(13);
    other.seed = 100;
    CHECK(roll(model, sampler(model, other), 13) != together);
  }
}

TEST_CASE("A rollout that is stopped and later continued from its tokens draws what it would have drawn") {
  const Model model = small_model(3);
  Sampler whole = sampler(model, options(1));
  const std::vector<int> prompt = random_tokens(9, model.config().vocab_size, 1);
  REQUIRE(whole.add(1, 5, prompt));
  REQUIRE(whole.begin_action(1, 40));
  std::vector<SampledToken> expected;
  for (;;) {
    expected.push_back(whole.step()[0]);
    if (expected.back().action_ended && !whole.begin_action(1, 40)) break;
    if (expected.size() == 30) break;
  }
  Sampler second = sampler(model, options(4));
  std::vector<int> cut = prompt;
  for (int i = 0; i < 11; ++i) cut.push_back(expected[static_cast<std::size_t>(i)].token);
  REQUIRE(second.add(8, 5, cut));
  for (std::size_t i = 11; i < expected.size(); ++i) {
    REQUIRE(second.begin_action(8, 40));
    const SampledToken got = second.step()[0];
    CHECK(got.token == expected[i].token);
    CHECK(got.logprob == expected[i].logprob);
  }
}

TEST_CASE("Log-probabilities are those of the model under the sampling temperature") {
  // Peer: the training-side forward pass of the same weights, softmax in double.
  const Model model = small_model(6);
  SamplerOptions o = options(2);
  o.temperature = 0.7;
  Sampler s = sampler(model, o);
  REQUIRE(s.add(1, 3, random_tokens(20, model.config().vocab_size, 2)));
  for (int i = 0; i < 25; ++i) {
    REQUIRE(s.begin_action(1, 1));
    const SampledToken t = s.step()[0];
    const auto row_tokens = s.tokens(1);
    const std::vector<int> context(row_tokens.begin(), row_tokens.end() - 1);
    const std::vector<float> logits = model.logits(context);
    const auto vocabulary = static_cast<std::size_t>(model.config().vocab_size);
    const float* last = logits.data() + logits.size() - vocabulary;
    double sum = 0, weighted = 0;
    for (std::size_t v = 0; v < vocabulary; ++v) {
      sum += std::exp(last[v] / 0.7);
      weighted += std::exp(last[v] / 0.7) * (last[v] / 0.7);
    }
    CHECK(t.logprob == Approx(last[t.token] / 0.7 - std::log(sum)).margin(2e-5));
    CHECK(t.entropy == Approx(std::log(sum) - weighted / sum).margin(2e-5));
  }
}

TEST_CASE("The two decoders agree") {
  const Model model = small_model(9);
  const auto by_hand = make_cpu_decoder(model, 3, 160, 2), by_torch = make_torch_decoder(model, 3, 160);
  const auto vocabulary = static_cast<std::size_t>(model.config().vocab_size);
  std::vector<std::vector<int>> tokens = {random_tokens(70, 37, 1), random_tokens(70, 37, 2), random_tokens(70, 37, 3)};
  std::vector<int> done = {0, 0, 0};
  for (int round = 0; round < 8; ++round) {
    std::vector<RowWork> work;
    for (int slot = 0; slot < 3; ++slot) {
      const int count = 1 + random_below(round < 2 ? 12 : 3, 77, static_cast<std::uint64_t>(10 * round + slot));
      work.push_back({slot, done[slot], std::span<const int>(tokens[slot]).subspan(done[slot], count)});
      done[slot] += count;
    }
    std::vector<float> a(3 * vocabulary), b(3 * vocabulary);
    const auto into = [&](std::vector<float>& out) {
      return [&out, vocabulary](std::size_t row, std::span<float> logits) {
        std::copy(logits.begin(), logits.end(), out.begin() + static_cast<std::ptrdiff_t>(row * vocabulary));
      };
    };
    by_hand->forward(work, into(a));
    by_torch->forward(work, into(b));
    double worst = 0;
    for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(static_cast<double>(a[i]) - b[i]));
    CHECK(worst < 1e-4);
  }
}

TEST_CASE("Draws follow the probabilities; the nucleus and greed cut them") {
  // Origin: softmax of log(1, 2, 3, 4) is (0.1, 0.2, 0.3, 0.4).
  const std::vector<float> logits = {std::log(1.f), std::log(2.f), std::log(3.f), std::log(4.f)};
  const auto draw = [&](double temperature, double top_p, double u) {
    std::vector<float> scratch = logits;
    return draw_token(scratch, temperature, top_p, u);
  };
  CHECK(draw(1, 1, 0.0).token == 0);
  CHECK(draw(1, 1, 0.0999).token == 0);
  CHECK(draw(1, 1, 0.1001).token == 1);
  CHECK(draw(1, 1, 0.2999).token == 1);
  CHECK(draw(1, 1, 0.5999).token == 2);
  CHECK(draw(1, 1, 0.9999999999).token == 3);
  CHECK(draw(1, 1, 0.35).logprob == Approx(std::log(0.3)));
  // top-p 0.6: {3, 2} hold 0.7, the fewest that reach 0.6; in order of id, 2 has 3/7 of the draws.
  CHECK(draw(1, 0.6, 0.0).token == 2);
  CHECK(draw(1, 0.6, 0.42).token == 2);
  CHECK(draw(1, 0.6, 0.43).token == 3);
  CHECK(draw(1, 0.6, 0.0).logprob == Approx(std::log(0.3)));  // before the cut
  CHECK(draw(0, 1, 0.0).token == 3);
  // Temperature 1/2 squares the odds: (1, 4, 9, 16) / 30.
  CHECK(draw(0.5, 1, 0.0).logprob == Approx(std::log(1.0 / 30)));
  // Equal logits under greed: the lower id.
  std::vector<float> equal(21, 0.25f);
  CHECK(draw_token(equal, 0, 1, 0.9).token == 0);
  std::vector<float> wide(21, 0.25f);
  CHECK(draw_token(wide, 1, 1, 0.0).entropy == Approx(std::log(21.0)));
}

TEST_CASE("What does not fit is refused and changes nothing") {
  const Model model = small_model(1);
  SamplerOptions o = options(2);
  o.max_context = 12;
  Sampler s = sampler(model, o);
  REQUIRE(s.add(1, 1, std::vector<int>{1, 2, 3}));
  CHECK_FALSE(s.add(1, 1, std::vector<int>{1}));
  CHECK_FALSE(s.add(2, 1, std::vector<int>{}));
  CHECK_FALSE(s.add(2, 1, std::vector<int>(13, 1)));
  CHECK_FALSE(s.add(2, 1, std::vector<int>{99}));
  CHECK(s.free_rows() == 1);
  CHECK_FALSE(s.extend(5, std::vector<int>{1}));
  CHECK_FALSE(s.extend(1, std::vector<int>(10, 1)));
  CHECK(s.room(1) == 9);
  CHECK(s.step().empty());  // nobody is in an action
  REQUIRE(s.add(2, 1, std::vector<int>(11, 1)));
  CHECK_FALSE(s.add(3, 1, std::vector<int>{1}));  // no slot
  REQUIRE(s.begin_action(2, 5));
  const SampledToken t = s.step()[0];
  CHECK(t.context_full);
  CHECK(t.action_ended);
  CHECK_FALSE(s.begin_action(2, 5));
  s.remove(2), s.remove(2), s.remove(77);
  CHECK(s.rows() == 1);
  CHECK_FALSE(Sampler::make(model, [] { auto bad = options(2); bad.max_context = 100000; return bad; }()));
  CHECK_FALSE(Sampler::make(model, [] { auto bad = options(2); bad.top_p = 0; return bad; }()));
}

TEST_CASE("A row that has left costs nothing") {
  const Model model = small_model(1);
  Sampler s = sampler(model, options(8));
  for (int id = 0; id < 8; ++id) {
    REQUIRE(s.add(id, 1, std::vector<int>{1, 2, 3}));
    REQUIRE(s.begin_action(id, 50));
  }
  s.step();
  CHECK(s.computed_tokens() == 24);
  for (int id = 1; id < 8; ++id) s.remove(id);
  const auto before = s.computed_tokens();
  REQUIRE(s.begin_action(0, 50));
  CHECK(s.step().size() == 1);
  CHECK(s.computed_tokens() == before + 1);
}
