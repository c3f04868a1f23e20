// What `allot train` keeps of a run beside its checkpoints.
#include <catch2/catch.hpp>

#include <fstream>
#include <sstream>

#include "runtime/training/run/run_folder.h"
#include "tests/folder.h"

using namespace allot::training;
using allot::test::Folder;

namespace {

constexpr const char* gate = "policy gate\nfn worth(x: real) -> real = x * x\n";

std::string whole(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return std::move(text).str();
}

}  // namespace

TEST_CASE("a policy that is kept from the place where it is kept stays as it is") {
  const Folder folder;
  auto run = RunFolder::open(folder.path() / "arm", false);
  REQUIRE(run);
  const auto copy = folder.write("arm/policy.allot", gate);
  REQUIRE(run->keep_policy(copy, {"gate", "0123"}));
  CHECK(whole(copy) == gate);
  CHECK(run->kept_policy() == "0123");
}
