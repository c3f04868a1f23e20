#include "runtime/python/remote.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>

#include <memory>

#include "runtime/python/errors.h"
#include "runtime/remote/client.h"
#include "runtime/remote/server.h"

namespace allot::python {

namespace nb = nanobind;
using namespace nb::literals;
using remote::Client;
using remote::Server;

namespace {

std::string path_text(const nb::object& path) {
  return nb::cast<std::string>(nb::str(path));
}

void close_server(Server& server) {
  const nb::gil_scoped_release release;
  server.close();
}

// The result keeps the engine. The engine cannot keep the result, or both would stay for ever; so it keeps what serves,
// until just before it goes.
std::shared_ptr<Server> serve(nb::handle_t<engine::Engine> self, const nb::object& path, double grace) {
  auto& engine = nb::cast<engine::Engine&>(self);
  const std::string where = path_text(path);
  remote::ServerSettings settings;
  settings.grace = grace;
  const std::shared_ptr<Server> server = [&] {
    const nb::gil_scoped_release release;
    return unwrap(Server::open(engine, where, settings));
  }();
  const auto end = [server](nb::handle reference) {
    close_server(*server);
    reference.dec_ref();  // the reference was released to this
  };
  (void)nb::weakref(self, nb::cpp_function(end)).release();
  return server;
}

std::map<std::string, std::int64_t> counts_of(const Server& server) {
  const remote::ServerCounts counts = server.counts();
  return {{"connections", counts.connections},
          {"connected", counts.connected},
          {"requests", counts.requests},
          {"repeated", counts.repeated},
          {"refused", counts.refused},
          {"slow", counts.slow},
          {"gone", counts.gone},
          {"aborted", counts.aborted}};
}

// Ctrl-C is seen by the interpreter alone, between two of its own steps, and while a call waits there are none. Handlers
// run in the main thread; another that took the interpreter's lock while that ends would end the process with it.
void look_at_signals() {
  if (::gettid() != ::getpid()) return;
  const nb::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

std::unique_ptr<Client> connect(const nb::object& run, double timeout, double patience) {
  const std::string where = path_text(run);
  remote::ClientSettings settings;
  settings.timeout = timeout;
  settings.patience = patience;
  settings.between = look_at_signals;
  const nb::gil_scoped_release release;
  return unwrap(Client::connect(where, settings));
}

void close(Client& client) {
  const nb::gil_scoped_release release;
  client.close();
}

void bind_server(nb::module_& module) {
  nb::class_<Server>(module, "Server", "An engine that other processes may ask; made by Engine.serve().")
      .def_prop_ro(
          "path", [](const Server& server) { return server.path().string(); }, "Of the socket.")
      .def_prop_ro("counts", &counts_of,
                   "connections, connected, requests, repeated, refused, slow, gone, aborted: see docs/clients.md.")
      .def("close", &close_server, "Clients that ask from here on take the default.")
      .def("__enter__", [](nb::object self) { return self; })
      .def("__exit__", [](Server& server, nb::args) { close_server(server); });
}

// Whoever waits with the client's lock takes the interpreter's in between: nobody may wait for them the other way round.
void bind_client(nb::module_& module) {
  using Unlocked = nb::call_guard<nb::gil_scoped_release>;
  nb::class_<Client, engine::Engine>(module, "Client",
                                     "The engine of a run that another process serves, with the methods of Engine.\n\n"
                                     "Where it cannot be reached in time, turn() and ended() order nothing, which\n"
                                     "`defaults` counts; what was reported is told later, once. Everything else waits\n"
                                     "for it and then raises allot.Error.")
      .def(
          "orders",
          [](Client& client, double wait) {
            const nb::gil_scoped_release release;
            return unwrap(client.orders(wait));
          },
          "wait"_a = 0.0, "Orders that somebody else's reports led to, after at most `wait` seconds.")
      .def(
          "drive",
          [](Client& client, const std::vector<std::pair<int, int>>& rollouts) {
            std::vector<engine::RolloutRef> refs;
            for (const auto& [group, sample] : rollouts) refs.push_back({group, sample});
            const nb::gil_scoped_release release;
            return unwrap(client.drive(refs));
          },
          "rollouts"_a, "Says before their first turn that these (group, sample) are driven here.")
      .def_prop_ro("reached", &Client::reached, Unlocked(), "The last call had its answer.")
      .def_prop_ro(
          "calls", [](const Client& client) { return client.counts().calls; }, Unlocked(),
          "Calls that waited for an answer.")
      .def_prop_ro(
          "defaults", [](const Client& client) { return client.counts().defaults; }, Unlocked(),
          "Calls that had none in time: nothing was ordered.")
      .def_prop_ro(
          "lost", [](const Client& client) { return client.counts().lost; }, Unlocked(),
          "Reports that no engine will get.")
      .def_prop_ro(
          "restarts", [](const Client& client) { return client.counts().restarts; }, Unlocked(),
          "How often another engine answered than before.")
      .def_prop_ro("problem", &Client::problem, Unlocked(),
                   "Why the engine could not be reached the last time; may be empty.")
      .def("close", &close,
           "Leaves the run: what is driven here ends as aborted. Every call after it raises allot.Error.")
      .def("__enter__", [](nb::object self) { return self; })
      .def("__exit__", [](Client& client, nb::args) { close(client); });
  module.def(
      "connect", &connect, "run"_a, "timeout"_a = 1.0, "patience"_a = 60.0,
      "A Client of the engine of a run.\n\n"
      "run: the run's folder, or the socket. timeout: seconds that a decision may take. patience: seconds that\n"
      "begin_iteration(), end_iteration(), save_state(), shape_group(), swap() and the others may take. An engine that\n"
      "is not there yet is no error.");
}

}  // namespace

void bind_remote(nb::module_& module, nb::class_<engine::Engine>& engine_class) {
  bind_server(module);
  bind_client(module);
  engine_class.def(
      "serve", &serve, "path"_a, "grace"_a = 1.0, nb::keep_alive<0, 1>(),
      "Serves this engine to other processes of the same user, until the Server is closed or the engine is gone.\n\n"
      "path: the run's folder, or a socket, whose name ends with \".sock\". grace: seconds in which a client\n"
      "whose connection broke may come back, before what it drives ends as aborted.");
}

}  // namespace allot::python
