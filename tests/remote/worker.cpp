// remote_worker client PATH TIMEOUT    a client; each line of stdin is a call, each line of stdout its answer
// remote_worker serve PATH             an engine without a policy, served until stdin ends; it keeps its journal beside
// PATH
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include <nlohmann/json.hpp>

#include "runtime/remote/client.h"
#include "runtime/remote/server.h"

using namespace allot;
using namespace allot::remote;

namespace {

Result<engine::Orders> tell(Client& client, const engine::LoggedEvent& event) {
  using Kind = engine::LoggedEvent::Kind;
  return event.kind == Kind::Turn ? client.turn(event.rollout, event.turn) : client.ended(event.rollout, event.ending);
}

Answer obey(Client& client, const std::string& line) {
  std::istringstream words(line);
  std::string call;
  words >> call;
  Answer answer;
  const auto take = [&](Result<engine::Orders> orders) {
    if (orders) {
      answer.orders.append(*std::move(orders));
    } else {
      answer.error = orders.error();
    }
  };
  if (call == "events") {
    const auto record = nlohmann::ordered_json::parse(line.substr(call.size()));
    for (const engine::LoggedEvent& event : engine::read_events(record).events) take(tell(client, event));
  } else if (call == "orders") {
    double wait = 0;
    words >> wait;
    take(client.orders(wait));
  } else if (call == "drive") {
    engine::RolloutRef rollout;
    words >> rollout.group >> rollout.sample;
    take(client.drive({rollout}));
  } else if (call == "counts") {
    answer.number = static_cast<std::uint64_t>(client.counts().defaults);
  }
  return answer;
}

int be_client(const std::string& path, double timeout) {
  ClientSettings settings;
  settings.timeout = timeout;
  settings.warn = [](const std::string&) {};
  auto client = Client::connect(path, settings);
  if (!client) return EXIT_FAILURE;
  for (std::string line; std::getline(std::cin, line);) std::cout << to_text(obey(**client, line)) << std::endl;
  return EXIT_SUCCESS;
}

int serve(const std::filesystem::path& path) {
  engine::Settings settings;
  settings.slots = 2;
  settings.group_size = 4;
  settings.run_folder = path.parent_path();
  const bool saved = std::filesystem::exists(settings.run_folder / "state.json");
  auto engine = engine::Engine::create(settings);
  if (!engine || (saved && !(*engine)->restore_from(settings.run_folder))) return EXIT_FAILURE;
  auto server = Server::open(**engine, path);
  if (!server) {
    std::cout << server.error().text() << std::endl;
    return EXIT_FAILURE;
  }
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
  }
  return EXIT_SUCCESS;
}

}  // namespace

int main(int count, char** words) {
  const std::string as = count > 2 ? words[1] : "";
  if (as == "client" && count > 3) return be_client(words[2], std::atof(words[3]));
  if (as == "serve") return serve(words[2]);
  return EXIT_FAILURE;
}
