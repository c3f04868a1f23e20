// The Python face of the engine: events in, orders out, as in runtime/engine/events.h. The interpreter's lock is
// released while the engine works; no handler ever calls Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <string>

#include "runtime/engine/engine.h"

namespace nb = nanobind;
using namespace nb::literals;
using namespace allot::engine;

namespace {

template <typename T>
T unwrap(allot::Result<T> result) {
  if (!result) throw std::runtime_error(result.error().text());
  return *std::move(result);
}

void unwrap(allot::Result<void> result) {
  if (!result) throw std::runtime_error(result.error().text());
}

Status parse_status(const std::string& word) {
  for (const auto status : {Status::Completed, Status::Truncated, Status::Aborted, Status::Timeout, Status::Error})
    if (word == name(status)) return status;
  throw std::invalid_argument("status `" + word + "` is none of completed, truncated, aborted, timeout, error");
}

std::unique_ptr<Engine> make_engine(const std::string& policy, const std::map<std::string, std::string>& parameters,
                                    std::uint64_t seed, int slots, int group_size, int turn_limit, int tokens_per_turn,
                                    const std::string& run_folder, bool shadow, double holdout, bool native) {
  Settings settings;
  settings.policy = policy;
  settings.parameters = parameters;
  settings.seed = seed;
  settings.slots = slots;
  settings.group_size = group_size;
  settings.turn_limit = turn_limit;
  settings.tokens_per_turn = tokens_per_turn;
  settings.run_folder = run_folder;
  settings.shadow = shadow;
  settings.holdout = holdout;
  settings.native = native;
  return unwrap(Engine::create(settings));
}

std::string fate_word(Fate fate) {
  switch (fate) {
    case Fate::Trained: return "trained";
    case Fate::Dropped: return "dropped";
    case Fate::Surplus: return "surplus";
    case Fate::Cancelled: return "cancelled";
  }
  return "";
}

void bind_orders(nb::module_& module) {
  nb::class_<RolloutRef>(module, "RolloutRef", "A rollout: group and sample, both from 0.")
      .def_ro("group", &RolloutRef::group)
      .def_ro("sample", &RolloutRef::sample);
  nb::class_<Start>(module, "Start", "Start samples first .. first + count - 1 of a group.")
      .def_ro("group", &Start::group)
      .def_ro("prompt", &Start::prompt)
      .def_ro("first", &Start::first)
      .def_ro("count", &Start::count);
  nb::class_<GroupResult>(module, "GroupResult", "A group that ended, with what is to become of it.")
      .def_ro("group", &GroupResult::group)
      .def_ro("prompt", &GroupResult::prompt)
      .def_ro("slot", &GroupResult::slot)
      .def_ro("round", &GroupResult::round)
      .def_ro("subset", &GroupResult::subset)
      .def_ro("flat", &GroupResult::flat)
      .def_ro("reason", &GroupResult::reason)
      .def_ro("rule", &GroupResult::rule)
      .def_prop_ro("fate", [](const GroupResult& r) { return fate_word(r.fate); }, "trained, dropped, surplus, cancelled")
      .def_prop_ro("stopped", [](const GroupResult& r) { return r.gate.carried_out; })
      .def_prop_ro("late", [](const GroupResult& r) { return r.gate.late; })
      .def_prop_ro("normalize_over_group", [](const GroupResult& r) { return r.normalize == NormalizeOver::Group; });
  nb::class_<Orders>(module, "Orders", "What the driver has to do now.")
      .def_ro("start", &Orders::start)
      .def_ro("stop", &Orders::stop)
      .def_ro("hold", &Orders::hold)
      .def_ro("release", &Orders::release)
      .def_ro("closed", &Orders::closed)
      .def_ro("batch_closed", &Orders::batch_closed);
  nb::class_<IterationReport>(module, "IterationReport", "What an iteration gave to train on.")
      .def_ro("iteration", &IterationReport::iteration)
      .def_ro("rounds", &IterationReport::rounds)
      .def_ro("trained", &IterationReport::trained)
      .def_ro("skip_update", &IterationReport::skip_update)
      .def_ro("aborted", &IterationReport::aborted)
      .def_ro("message", &IterationReport::message)
      .def_ro("metrics", &IterationReport::metrics);
}

Turn make_turn(const std::string& action, const std::string& observation, bool valid, int tokens, double logprob,
               double entropy, int calls, bool last) {
  Turn turn;
  turn.action = action;
  turn.observation = observation;
  turn.valid = valid;
  turn.tokens = tokens;
  turn.logprob = logprob;
  turn.entropy = entropy;
  turn.calls = calls;
  turn.last = last;
  return turn;
}

Ending make_ending(const std::string& status, std::optional<double> reward, std::optional<double> raw_reward,
                   const std::string& cause) {
  Ending ending;
  ending.status = parse_status(status);
  ending.reward = reward;
  ending.raw_reward = raw_reward;
  ending.cause = cause;
  return ending;
}

}  // namespace

NB_MODULE(_allot, module) {
  module.doc() = "The Allot engine: a policy file decides where rollouts go.";
  bind_orders(module);
  nb::class_<Engine>(module, "Engine",
                     "One engine per run. Report what happened; carry out the orders that come back.\n\n"
                     "policy: path of a .allot file, or '' for none. parameters: NAME to VALUE, as text.\n"
                     "slots: groups of a batch. group_size: rollouts of a group without a `size` handler.")
      .def(nb::new_(&make_engine), "policy"_a, "parameters"_a = std::map<std::string, std::string>{}, "seed"_a = 0,
           "slots"_a = 8, "group_size"_a = 8, "turn_limit"_a = 30, "tokens_per_turn"_a = 16, "run_folder"_a = "",
           "shadow"_a = false, "holdout"_a = 0.0, "native"_a = true)
      .def("begin_iteration",
           [](Engine& e, int iteration, const std::vector<std::string>& prompts) {
             nb::gil_scoped_release release;
             return unwrap(e.begin_iteration(iteration, prompts));
           },
           "iteration"_a, "prompts"_a, "`prompts`: the select order; slot s takes prompts[(round - 1) * slots + s].")
      .def("turn",
           [](Engine& e, int group, int sample, const std::string& action, const std::string& observation, bool valid,
              int tokens, double logprob, double entropy, int calls, bool last) {
             const Turn turn = make_turn(action, observation, valid, tokens, logprob, entropy, calls, last);
             nb::gil_scoped_release release;
             return unwrap(e.turn({group, sample}, turn));
           },
           "group"_a, "sample"_a, "action"_a, "observation"_a = "", "valid"_a = true, "tokens"_a = 0, "logprob"_a = 0.0,
           "entropy"_a = 0.0, "calls"_a = 0, "last"_a = false, "A turn was executed; `last` where ended() follows.")
      .def("ended",
           [](Engine& e, int group, int sample, const std::string& status, std::optional<double> reward,
              std::optional<double> raw_reward, const std::string& cause) {
             const Ending ending = make_ending(status, reward, raw_reward, cause);
             nb::gil_scoped_release release;
             return unwrap(e.ended({group, sample}, ending));
           },
           "group"_a, "sample"_a, "status"_a = "completed", "reward"_a = nb::none(), "raw_reward"_a = nb::none(),
           "cause"_a = "", "A rollout ended by itself. A reward of None is unscored, never 0.")
      .def("preview", &Engine::preview, "What there is to train on, once batch_closed was ordered.")
      .def("end_iteration",
           [](Engine& e) {
             nb::gil_scoped_release release;
             return unwrap(e.end_iteration());
           },
           "The barrier after the iteration's last optimiser step.")
      .def("unused_prompts", &Engine::unused_prompts)
      .def("save_state", &Engine::save_state)
      .def("restore", [](Engine& e, const std::string& state) { unwrap(e.restore(state)); }, "state"_a)
      .def_prop_ro("seconds_spent", &Engine::seconds_spent)
      .def_prop_ro("policy_name", &Engine::policy_name)
      .def_prop_ro("policy_hash", &Engine::policy_hash);
}
