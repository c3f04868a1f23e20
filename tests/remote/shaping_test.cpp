// Shaping through a client: matrices travel, and come to the same as in process.
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "runtime/remote/client.h"
#include "runtime/remote/server.h"
#include "tests/engine/bench.h"
#include "tests/folder.h"
#include "tests/remote/calling.h"

using namespace allot;
using namespace allot::remote;
using allot::test::Folder;
using engine::MicroBatch;
using engine::bench::engine_of;
using engine::bench::settings;
using namespace remote::test::calling;

namespace {

const char* const geometry = R"(
policy geometry
on finish of group g { train }
on shape of group g { set advantages = gram(g.embeddings) * [1.0 for r in g.rollouts] }
on shape of micro_batch b { set advantages = b.gram * b.advantages }
)";

void begin(Client& client) {
  must(client.begin_iteration(0, {"p0"}));
  for (int sample = 0; sample < 2; ++sample) must(client.ended({0, sample}, scored(sample)));
}

}  // namespace

TEST_CASE("embeddings of a group and the Gram matrix of a micro-batch are shaped as in process, to the last bit") {
  const Folder folder;
  const auto engine = engine_of(geometry, settings(1, 2));
  const auto server = must(Server::open(*engine, folder.path()));
  const auto client = client_of(folder.path());
  CHECK(client->wants_embeddings());
  CHECK(client->wants_gram());
  begin(*client);
  MicroBatch group{{{0, 0}, {0, 1}}, {0.5, 0.25}, {}};
  group.embeddings = {1, 2, 3, -1};
  // Rows (1, 2) and (3, -1): 5 + 1 and 1 + 10.
  CHECK(must(client->shape_group(group)).advantages == std::vector<double>{6.0, 11.0});
  MicroBatch micro{{{0, 0}, {0, 1}}, {2.0, -1.0}, {4, 1, 1, 3}};
  CHECK(must(client->shape(micro)).advantages == std::vector<double>{7.0, -1.0});
  group.embeddings = {0.1, 1.0 / 3, -1e-300, 0.1 + 0.2, 1e17, -0.7};
  CHECK(must(client->shape_group(group)).advantages == must(engine->shape_group(group)).advantages);
  micro.gram = {1.0 / 3, 0.1, 0.1, 1e-9};
  CHECK(must(client->shape(micro)).advantages == must(engine->shape(micro)).advantages);
}

TEST_CASE("matrices of another form or too large for the socket are an error, and cost nothing else") {
  const Folder folder;
  const auto engine = engine_of(geometry, settings(1, 2));
  const auto server = must(Server::open(*engine, folder.path()));
  const auto client = client_of(folder.path());
  begin(*client);
  const auto told = [](const Result<engine::Shaped>& shaped) { return shaped ? std::string() : shaped.error().text(); };
  MicroBatch micro{{{0, 0}, {0, 1}}, {2.0, -1.0}, {1, 2, 3, 4, 5, 6}};
  CHECK(told(client->shape(micro)).find("the Gram matrix is square") != std::string::npos);
  CHECK(told(client->shape(micro)) == told(engine->shape(micro)));
  MicroBatch group{{{0, 0}, {0, 1}}, {0.5, 0.25}, {}};
  group.embeddings = {1, 2, 3};
  CHECK(told(client->shape_group(group)).find("one embedding a rollout") != std::string::npos);
  constexpr std::size_t widest = 65536;
  group.embeddings.assign(2 * (widest + 1), 1.0);
  CHECK(told(client->shape_group(group)).find("at most 65536 numbers") != std::string::npos);
  group.embeddings.assign(2 * widest, 0.0);
  CHECK(must(client->shape_group(group)).advantages == std::vector<double>{0.0, 0.0});
  CHECK(server->counts().refused == 0);
  CHECK(server->counts().connections == 1);
}

TEST_CASE("advantages that are no numbers come back as they went") {
  const Folder folder;
  const auto engine = engine_of("", settings(1, 2));
  const auto server = must(Server::open(*engine, folder.path()));
  const auto client = client_of(folder.path());
  begin(*client);
  constexpr double endless = std::numeric_limits<double>::infinity();
  const auto shaped = must(client->shape({{{0, 0}, {0, 1}}, {std::nan(""), -endless}, {}})).advantages;
  REQUIRE(shaped.size() == 2);
  CHECK(std::isnan(shaped[0]));
  CHECK(shaped[1] == -endless);
}
