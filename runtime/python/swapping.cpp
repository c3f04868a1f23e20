#include "runtime/python/swapping.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <stdexcept>
#include <string>

#include "runtime/python/errors.h"

namespace allot::python {

namespace nb = nanobind;
using namespace nb::literals;
using engine::Engine;
using engine::SwapReport;
using engine::SwapRequest;

namespace {

using Parameters = std::map<std::string, std::string>;

SwapReport swap(Engine& engine, const nb::object& policy, const std::string& expect, const Parameters& parameters, bool now,
                double canary) {
  const std::string file = nb::cast<std::string>(nb::str(policy));
  const nb::gil_scoped_release release;
  SwapRequest request;
  request.text = unwrap(engine::read_policy_text(file));
  request.expected = expect;
  request.parameters = parameters;
  request.now = now;
  request.canary = canary;
  return engine.swap(request);
}

SwapReport roll_back(Engine& engine, const std::string& state) {
  if (state != "now" && state != "then") throw std::invalid_argument("state is \"now\" or \"then\", not \"" + state + "\"");
  const nb::gil_scoped_release release;
  SwapRequest request;
  request.back = state == "now" ? engine::StateOf::Now : engine::StateOf::Then;
  return engine.swap(request);
}

void bind_report(nb::module_& module) {
  nb::class_<SwapReport>(module, "SwapReport", "What came of a request for another policy.")
      .def_prop_ro("outcome", [](const SwapReport& report) { return std::string(name(report.outcome)); },
                   "\"active\", \"waiting\" (until the iteration ends), \"canary\", \"unchanged\", \"refused\" or \"superseded\".")
      .def_ro("reason", &SwapReport::reason, "Why it was refused, or why it waits.")
      .def_prop_ro("before", [](const SwapReport& report) { return report.from; }, "SHA-256 of what was active.")
      .def_prop_ro("after", [](const SwapReport& report) { return report.to; }, "… of what was asked for; empty where it is no policy.")
      .def_ro("version", &SwapReport::version, "Number of the active version, or of the canary.")
      .def_ro("iteration", &SwapReport::iteration, "From which it decides, or in which it was refused.")
      .def_ro("ticket", &SwapReport::ticket, "For swap_outcome().")
      .def_ro("groups_moved", &SwapReport::groups_moved, "That took the new version while they ran or waited.")
      .def_ro("seconds", &SwapReport::seconds, "From the request to this outcome.")
      .def_prop_ro("state", [](const SwapReport& report) {
        return std::map<std::string, std::vector<std::string>>{{"kept", report.state.kept}, {"migrated", report.state.migrated},
                                                               {"started", report.state.started}, {"dropped", report.state.dropped}};
      }, "Names of `state`, by what became of them: kept, migrated, started, dropped.")
      .def("__repr__", [](const SwapReport& report) {
        return "SwapReport(" + std::string(name(report.outcome)) + (report.reason.empty() ? "" : ": " + report.reason) + ")";
      });
}

}  // namespace

void bind_swapping(nb::module_& module, nb::class_<Engine>& engine_class) {
  using Unlocked = nb::call_guard<nb::gil_scoped_release>;
  bind_report(module);
  engine_class
      .def("swap", &swap, "policy"_a, "expect"_a = "", "parameters"_a = Parameters{}, "now"_a = false, "canary"_a = 0.0,
           "Puts the policy of another file in the place of the active one, from any thread and at any time.\n\n"
           "expect: the active version, such as \"v3\"; or the hash of its text, or the first eight digits of that, which tells\n"
           "nothing of parameters; \"\" for whatever is active. parameters: beside\n"
           "those that it has. now: running groups take it too, where what they keep allows it. canary: the share of groups\n"
           "that it decides about, above 0 and below 1. A refused one raises nothing and changes nothing: see `outcome`. From a\n"
           "Client it raises allot.Error where no outcome came in time; it may be carried out all the same.")
      .def("roll_back", &roll_back, "state"_a = "now",
           "Back to the version before, with what is remembered \"now\", or what was remembered \"then\".")
      .def("swap_outcome", &Engine::swap_outcome, "ticket"_a, Unlocked(), "What became of a swap that waited.")
      .def_prop_ro("active_version", &Engine::active_version, Unlocked(), "Counts swaps; 0: what the run began with.");
}

}  // namespace allot::python
