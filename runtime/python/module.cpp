// The Python face of the engine: events in, orders out, as in runtime/engine/events.h. The interpreter's lock is
// released while the engine works; no handler ever calls Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <exception>
#include <stdexcept>
#include <string>
#include <variant>

#include "runtime/engine/abilities.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/policy.h"
#include "runtime/engine/policy_text.h"
#include "runtime/python/decider.h"
#include "runtime/python/errors.h"
#include "runtime/python/largest_group.h"
#include "runtime/python/remote.h"
#include "runtime/python/shaping.h"
#include "runtime/python/swapping.h"
#include "runtime/remote/client.h"

namespace nb = nanobind;
using namespace nb::literals;
using namespace allot::engine;
using allot::python::HostError;
using allot::python::unwrap;

namespace {

Status parse_status(const std::string& word) {
  for (const auto status : {Status::Completed, Status::Truncated, Status::Aborted, Status::Timeout, Status::Error})
    if (word == name(status)) return status;
  throw std::invalid_argument("status `" + word + "` is none of completed, truncated, aborted, timeout, error");
}

// One number for the run, or a table by prompt or category in which None is undefined.
using GivenInput = std::variant<double, std::map<std::string, std::optional<double>>>;

InputValues input_values(const std::map<std::string, GivenInput>& given) {
  InputValues values;
  for (const auto& [name, input] : given) {
    auto& table = values[name];
    if (const double* const number = std::get_if<double>(&input)) {
      table[""] = *number;
      continue;
    }
    for (const auto& [key, value] : std::get<1>(input)) {
      if (value) table[key] = *value;
    }
  }
  return values;
}

std::unique_ptr<Engine> make_engine(const std::string& policy, const std::map<std::string, std::string>& parameters,
                                    std::uint64_t seed, int slots, int group_size, int turn_limit, int tokens_per_turn,
                                    const std::string& run_folder, bool shadow, double holdout,
                                    std::optional<double> pause_below, bool stop_on_fault, bool has_raw_reward,
                                    bool native, const std::map<std::string, GivenInput>& inputs,
                                    const std::vector<std::string>& can, const std::string& policy_text) {
  Settings settings;
  settings.policy = policy;
  if (!policy_text.empty()) settings.policy_text = unwrap(unpack(policy_text));
  settings.parameters = parameters;
  settings.seed = seed;
  settings.slots = slots;
  settings.group_size = group_size;
  settings.turn_limit = turn_limit;
  settings.tokens_per_turn = tokens_per_turn;
  settings.run_folder = run_folder;
  settings.shadow = shadow;
  settings.holdout = holdout;
  settings.pause_below = pause_below;
  settings.stop_on_fault = stop_on_fault;
  settings.has_raw_reward = has_raw_reward;
  settings.native = native;
  settings.inputs = input_values(inputs);
  settings.host = unwrap(abilities_from(can));
  const nb::gil_scoped_release release;
  return unwrap(Engine::create(settings));
}

std::string packed_policy(const std::string& policy, const std::map<std::string, std::string>& parameters) {
  return pack(unwrap(load_policy(policy, parameters))->origin()->text);
}

std::optional<std::int64_t> bound_of_groups(const std::string& policy,
                                            const std::map<std::string, std::string>& parameters, int group_size) {
  if (policy.empty()) return group_size;
  const auto loaded = unwrap(load_policy(policy, parameters));
  return allot::python::largest_group(loaded->program(), loaded->parameters(), group_size);
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
  nb::class_<RolloutRef>(module, "RolloutRef", "A rollout. Groups count from 0 over the run, samples within the group.")
      .def_ro("group", &RolloutRef::group)
      .def_ro("sample", &RolloutRef::sample)
      .def("__repr__", [](const RolloutRef& ref) {
        return "RolloutRef(group=" + std::to_string(ref.group) + ", sample=" + std::to_string(ref.sample) + ")";
      });
  nb::class_<Start>(module, "Start", "Start samples first .. first + count - 1 of a group.")
      .def_ro("group", &Start::group)
      .def_ro("prompt", &Start::prompt)
      .def_ro("first", &Start::first)
      .def_ro("count", &Start::count);
  nb::class_<GroupResult>(module, "GroupResult", "A group that ended, with what is to become of it.")
      .def_ro("group", &GroupResult::group)
      .def_ro("prompt", &GroupResult::prompt)
      .def_ro("slot", &GroupResult::slot, "Its place in the batch, from 0.")
      .def_ro("round", &GroupResult::round, "1 for the first group of its slot, 2 for the first refill, …")
      .def_ro("subset", &GroupResult::subset, "Samples to train on, ascending; empty unless trained.")
      .def_ro("flat", &GroupResult::flat, "At least two scored rewards, and no spread among them.")
      .def_ro("rewards", &GroupResult::rewards, "By sample, as trained on: what `score` made of them; None is unscored.")
      .def_ro("iterations", &GroupResult::iterations, "By sample: in which it was started, so under which weights.")
      .def_ro("policy", &GroupResult::policy, "Hash of the version that decided; empty without a policy.")
      .def_ro("reason", &GroupResult::reason, "What the rule said after `because`; may be empty.")
      .def_ro("rule", &GroupResult::rule, "\"file:line\" of the rule that decided; empty for the default.")
      .def_prop_ro("fate", [](const GroupResult& group) { return fate_word(group.fate); },
                   "\"trained\", \"dropped\", \"surplus\" or \"cancelled\".")
      .def_prop_ro("stopped", [](const GroupResult& group) { return group.gate.carried_out; },
                   "A `turn` rule stopped it while a rollout was alive.")
      .def_prop_ro("late", [](const GroupResult& group) { return group.gate.late; },
                   "A `turn` rule would have stopped it, but no rollout was alive any more.")
      .def_prop_ro("normalize_over_group",
                   [](const GroupResult& group) { return group.normalize == NormalizeOver::Group; },
                   "Advantages are centred on all scored members, not on the subset alone.");
  nb::class_<Orders>(module, "Orders", "What the driver has to do now.")
      .def_ro("start", &Orders::start, "Rollouts to start.")
      .def_ro("stop", &Orders::stop, "Rollouts to end now; they are not reported again.")
      .def_ro("hold", &Orders::hold, "Rollouts that take no turn until they are released.")
      .def_ro("release", &Orders::release)
      .def_ro("closed", &Orders::closed, "Groups that ended.")
      .def_ro("deferred", &Orders::deferred,
              "Groups that wait: keep their rollouts; when one goes on, `start` names it again.")
      .def_ro("batch_closed", &Orders::batch_closed, "Nothing is outstanding: train, then call end_iteration().");
  nb::class_<IterationReport>(module, "IterationReport", "What an iteration gave to train on.")
      .def_ro("iteration", &IterationReport::iteration)
      .def_ro("rounds", &IterationReport::rounds, "Fills of the batch, the first included.")
      .def_ro("trained", &IterationReport::trained, "Groups to train on, in slot order.")
      .def_ro("replayed", &IterationReport::replayed, "Earlier groups to train on once more, beside them.")
      .def_ro("skip_update", &IterationReport::skip_update, "Take no optimiser step.")
      .def_ro("aborted", &IterationReport::aborted, "The policy ends the run; `message` says why.")
      .def_ro("message", &IterationReport::message, "One line for each thing a person should know.")
      .def_ro("metrics", &IterationReport::metrics, "The same names in every iteration of one policy.");
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
                   const std::string& cause, const std::string& answer) {
  Ending ending;
  ending.status = parse_status(status);
  ending.reward = reward;
  ending.raw_reward = raw_reward;
  ending.cause = cause;
  ending.answer = answer;
  return ending;
}

void bind_engine(nb::module_& module) {
  using Unlocked = nb::call_guard<nb::gil_scoped_release>;
  nb::class_<Engine> engine_class(module, "Engine", nb::is_weak_referenceable(),
                     "One engine per run. Report what happened; carry out the orders that come back.\n\n"
                     "policy: path of a .allot file, or \"\" for none. parameters: NAME to VALUE, as text.\n"
                     "slots: groups of a batch. group_size: rollouts of a group without a `size` handler.\n"
                     "turn_limit: turns of a rollout at most. tokens_per_turn: reserved from a budget before a turn.\n"
                     "run_folder: where journal and state go; \"\" keeps nothing on disk. One that holds a run goes on after restore().\n"
                     "shadow: decide and log, change nothing. holdout: share of stops that are not carried out, 0..1.\n"
                     "pause_below: back to shadow where a smaller share of those stops was right.\n"
                     "stop_on_fault: a fault in the policy ends the run; else the point's default is taken.\n"
                     "has_raw_reward: ended() will tell what the environment gave, where that is not the reward.\n"
                     "native: compile the policy in the background; it decides the same without.\n"
                     "inputs: what the policy's `input`s are, by name: a number, or {prompt or category: number or None}.\n"
                     "can: what your loop does beside starting, stopping and training, in words: \"defers\" (keeps the rollouts\n"
                     "of `deferred` groups), \"scores\" (trains on GroupResult.rewards), \"shapes\" (asks shape_group() and shape()),\n"
                     "\"replays\" (trains on IterationReport.replayed), \"losses\" (asks token_loss()). A policy that asks for more\n"
                     "is refused.\n"
                     "policy_text: what policy_text() gave; the policy is taken from it instead of from its file.\n\n"
                     "Raises allot.Error, from every method: what happened, where, what to do next.");
  engine_class.def(nb::new_(&make_engine), "policy"_a, "parameters"_a = std::map<std::string, std::string>{}, "seed"_a = 0,
           "slots"_a = 8, "group_size"_a = 8, "turn_limit"_a = 30, "tokens_per_turn"_a = 16, "run_folder"_a = "",
           "shadow"_a = false, "holdout"_a = 0.0, "pause_below"_a = nb::none(), "stop_on_fault"_a = false,
           "has_raw_reward"_a = false, "native"_a = true,
           "inputs"_a = std::map<std::string, GivenInput>{}, "can"_a = std::vector<std::string>{}, "policy_text"_a = "")
      .def("begin_iteration",
           [](Engine& engine, int iteration, const std::vector<std::string>& prompts) {
             const nb::gil_scoped_release release;
             return unwrap(engine.begin_iteration(iteration, prompts));
           },
           "iteration"_a, "prompts"_a, "`prompts`: the select order; slot s takes prompts[(round - 1) * slots + s].")
      .def("turn",
           [](Engine& engine, int group, int sample, const std::string& action, const std::string& observation,
              bool valid, int tokens, double logprob, double entropy, int calls, bool last) {
             const Turn turn = make_turn(action, observation, valid, tokens, logprob, entropy, calls, last);
             const nb::gil_scoped_release release;
             return unwrap(engine.turn({group, sample}, turn));
           },
           "group"_a, "sample"_a, "action"_a, "observation"_a = "", "valid"_a = true, "tokens"_a = 0, "logprob"_a = 0.0,
           "entropy"_a = 0.0, "calls"_a = 0, "last"_a = false,
           "A turn was executed; `last` where ended() follows.\n\n"
           "action: the world's canonical form, \"invalid\" for one it could not parse. logprob, entropy: summed over\n"
           "the tokens that the model wrote, in nats.")
      .def("ended",
           [](Engine& engine, int group, int sample, const std::string& status, std::optional<double> reward,
              std::optional<double> raw_reward, const std::string& cause, const std::string& answer) {
             const Ending ending = make_ending(status, reward, raw_reward, cause, answer);
             const nb::gil_scoped_release release;
             return unwrap(engine.ended({group, sample}, ending));
           },
           "group"_a, "sample"_a, "status"_a = "completed", "reward"_a = nb::none(), "raw_reward"_a = nb::none(),
           "cause"_a = "", "answer"_a = "",
           "A rollout ended by itself. A reward of None is unscored, never 0.\n\n"
           "status: completed, truncated, aborted, timeout or error. cause: what went wrong, for errors.\n"
           "answer: its final answer in canonical form; equal ones of a group are one class of `g.classes`, \"\" is none.")
      .def("preview", &Engine::preview, Unlocked(), "What there is to train on, once batch_closed was ordered.")
      .def("end_iteration",
           [](Engine& engine) {
             const nb::gil_scoped_release release;
             return unwrap(engine.end_iteration());
           },
           "The barrier after the iteration's last optimiser step.")
      .def("unused_prompts", &Engine::unused_prompts, Unlocked(), "Prompts of the last iteration that were not opened.")
      .def("save_state", &Engine::save_state, Unlocked(), "The state at the last barrier, as one self-checking text.")
      .def("restore", [](Engine& engine, const std::string& state) { unwrap(engine.restore(state)); }, "state"_a, Unlocked(),
           "Continues from save_state() of an engine with the same policy.")
      .def_prop_ro("seconds_spent", &Engine::seconds_spent, Unlocked(), "In policy and engine, since the engine was made.")
      .def_prop_ro("policy_name", &Engine::policy_name, Unlocked())
      .def_prop_ro("policy_hash", &Engine::policy_hash, Unlocked(), "SHA-256 of the source, hexadecimal; empty without a policy.");
  allot::python::bind_shaping(module, engine_class);
  allot::python::bind_swapping(module, engine_class);
  allot::python::bind_remote(module, engine_class);
}

// As the errors of those that give a Result.
void translate_unanswered(const std::exception_ptr& thrown, void* error_type) {
  try {
    std::rethrow_exception(thrown);
  } catch (const allot::remote::Unanswered& unanswered) {
    PyErr_SetString(static_cast<PyObject*>(error_type), unanswered.what());
  }
}

}  // namespace

NB_MODULE(_allot, module) {
  module.doc() = "The Allot engine: a policy file decides where rollouts go.";
  module.attr("__version__") = ALLOT_VERSION;
  const nb::exception<HostError> error(module, "Error", PyExc_RuntimeError);
  nb::register_exception_translator(&translate_unanswered, error.ptr());
  if (!allot::python::add_decider(module.ptr(), error.ptr())) throw nb::python_error();
  bind_orders(module);
  bind_engine(module);
  module.def("policy_text", &packed_policy, "policy"_a, "parameters"_a = std::map<std::string, std::string>{},
             "The text of a policy file and of all files that it names, checksummed, for an Engine elsewhere or later.");
  module.def("largest_group", &bound_of_groups, "policy"_a, "parameters"_a, "group_size"_a,
             "An upper bound of the rollouts of any group under a policy, or None where the text gives none.");
}
