#include "runtime/python/shaping.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "runtime/python/errors.h"

namespace allot::python {

namespace nb = nanobind;
using namespace nb::literals;
using engine::Engine;
using engine::MicroBatch;
using engine::PoolPrompt;
using engine::Shaped;
using engine::TokenLoss;

namespace {

using Pairs = std::vector<std::pair<int, int>>;
using Rows = std::vector<std::vector<double>>;
using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <typename T>
using Column = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

// Row by row; `width` -1: whatever the first row has.
std::vector<double> row_major(const Rows& rows, const char* name, std::size_t count, std::ptrdiff_t width) {
  std::vector<double> all;
  if (rows.empty()) return all;
  if (rows.size() != count) {
    throw std::invalid_argument(fmt::format("{} has {} rows for {} rollouts", name, rows.size(), count));
  }
  const std::size_t columns = width < 0 ? rows.front().size() : static_cast<std::size_t>(width);
  for (const auto& row : rows) {
    if (row.size() != columns) {
      throw std::invalid_argument(fmt::format("a row of {} has {} numbers where {} are expected", name, row.size(), columns));
    }
    all.insert(all.end(), row.begin(), row.end());
  }
  return all;
}

MicroBatch micro_batch(const Pairs& rollouts, std::vector<double> advantages, const Rows& gram, const Rows& embeddings) {
  MicroBatch batch;
  for (const auto& [group, sample] : rollouts) batch.rollouts.push_back({group, sample});
  if (advantages.size() != rollouts.size()) {
    throw std::invalid_argument(fmt::format("{} advantages for {} rollouts", advantages.size(), rollouts.size()));
  }
  batch.advantages = std::move(advantages);
  batch.gram = row_major(gram, "gram", rollouts.size(), static_cast<std::ptrdiff_t>(rollouts.size()));
  batch.embeddings = row_major(embeddings, "embeddings", rollouts.size(), -1);
  return batch;
}

std::span<const double> span_of(const Numbers& numbers) { return {numbers.data(), numbers.size()}; }

template <typename T>
Column<T> column(std::vector<T> values) {
  auto* const kept = new std::vector<T>(std::move(values));
  const nb::capsule owner(kept, [](void* pointer) noexcept { delete static_cast<std::vector<T>*>(pointer); });
  return Column<T>(kept->data(), {kept->size()}, owner);
}

nb::tuple ask_loss(const TokenLoss& loss, const Numbers& logprob, const Numbers& old_logprob, const Numbers& advantage,
                   const std::optional<Numbers>& reference) {
  const std::size_t count = logprob.size();
  if (old_logprob.size() != count || advantage.size() != count || (reference && reference->size() != count)) {
    throw std::invalid_argument("logprob, old_logprob, advantage and reference are of one length: a number a token");
  }
  engine::LossTokens tokens{span_of(logprob), span_of(old_logprob), {}, span_of(advantage)};
  if (reference) tokens.reference = span_of(*reference);
  engine::TokenLosses losses;
  {
    const nb::gil_scoped_release release;
    losses = loss.ask(tokens);
  }
  return nb::make_tuple(column(std::move(losses.loss)), column(std::move(losses.slope)), column(std::move(losses.own)));
}

void bind_values(nb::module_& module) {
  nb::class_<PoolPrompt>(module, "PoolPrompt", "A prompt that may be drawn, as the host describes it.")
      .def(nb::new_([](std::string key, std::string category) { return PoolPrompt{std::move(key), std::move(category)}; }),
           "key"_a, "category"_a = "", "category: \"\" for none.")
      .def_ro("key", &PoolPrompt::key)
      .def_ro("category", &PoolPrompt::category);
  nb::class_<Shaped>(module, "Shaped", "What is to be trained with; in the order of the rollouts that were given.")
      .def_ro("advantages", &Shaped::advantages)
      .def_ro("weights", &Shaped::weights, "Of the loss of each rollout; empty: 1.")
      .def_ro("turns", &Shaped::turns, "Advantages of the turns of each rollout, where the policy sets them so; else empty.");
  nb::class_<TokenLoss>(module, "TokenLoss", "`on loss of token` with the state of this iteration; for any thread.")
      .def("ask", &ask_loss, "logprob"_a, "old_logprob"_a, "advantage"_a, "reference"_a = nb::none(),
           "Arrays of float64, a number a token: log-probabilities in nats under the weights that are trained, when the\n"
           "token was written, and under the reference model. Gives (loss, slope, own): slope is d loss / d logprob;\n"
           "where own is 1 the policy said nothing, and the trainer's own loss is to be taken.");
}

}  // namespace

void bind_shaping(nb::module_& module, nb::class_<Engine>& engine_class) {
  using Unlocked = nb::call_guard<nb::gil_scoped_release>;
  bind_values(module);
  const auto shape = [](Result<Shaped> (Engine::*ask)(const MicroBatch&)) {
    return [ask](Engine& engine, const Pairs& rollouts, const std::vector<double>& advantages, const Rows& gram,
                 const Rows& embeddings) {
      const MicroBatch batch = micro_batch(rollouts, advantages, gram, embeddings);
      const nb::gil_scoped_release release;
      return unwrap((engine.*ask)(batch));
    };
  };
  engine_class
      .def("set_pool", [](Engine& engine, std::vector<PoolPrompt> prompts) { unwrap(engine.set_pool(std::move(prompts))); },
           "prompts"_a, Unlocked(),
           "The prompts that may be drawn; before the first iteration or between two. Without, they are those of the iteration.")
      .def("shape_group", shape(&Engine::shape_group), "rollouts"_a, "advantages"_a, "gram"_a = Rows{}, "embeddings"_a = Rows{},
           "Asks `shape of group`: all rollouts of one group as (group, sample), and the advantages of the host's estimator.\n"
           "Between batch_closed and end_iteration(); gives the advantages back where there is no such handler.")
      .def("shape", shape(&Engine::shape), "rollouts"_a, "advantages"_a, "gram"_a = Rows{}, "embeddings"_a = Rows{},
           "Asks `shape of micro_batch`. gram: the matrix of inner products of the rollouts, where wants_gram.")
      .def("token_loss", [](Engine& engine) { return std::const_pointer_cast<TokenLoss>(engine.token_loss()); }, Unlocked(),
           nb::keep_alive<0, 1>(),
           "A TokenLoss, or None where the policy sets no loss, in shadow, and outside of an iteration. That of a Client is\n"
           "asked in this process, and tells the engine how often each rule answered.")
      .def_prop_ro("wants_gram", &Engine::wants_gram, Unlocked())
      .def_prop_ro("wants_embeddings", &Engine::wants_embeddings, Unlocked())
      .def_prop_ro("shapes_groups", &Engine::shapes_groups, Unlocked(), "There is an `on shape of group`.")
      .def_prop_ro("shapes_micro_batches", &Engine::shapes_micro_batches, Unlocked(), "There is an `on shape of micro_batch`.")
      .def_prop_ro("replay_age", &Engine::replay_age, Unlocked(),
                   "Iterations for which the rollouts of a trained group are to be kept; 0: there is no `replay`.");
}

}  // namespace allot::python
