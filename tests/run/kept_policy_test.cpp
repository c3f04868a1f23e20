// What a run folder keeps of a policy, and what its files say by now.
#include <catch2/catch.hpp>

#include <filesystem>
#include <string>
#include <vector>

#include "runtime/engine/policy.h"
#include "runtime/engine/swap_files.h"
#include "runtime/engine/versions_folder.h"
#include "runtime/math/checksum.h"
#include "runtime/training/run/kept_policy.h"
#include "runtime/training/run/run_folder.h"
#include "tests/folder.h"

using namespace allot::training;
using allot::engine::is_kept;
using allot::engine::OwnText;
using allot::engine::policy_hash;
using allot::test::Folder;

namespace {

constexpr const char* both =
    "policy both\nimport imp.gate as gate\non finish of group g {\n  when gate.worth(g.reward_mean ?? 0) < 0.3 then drop\n}\n";
constexpr const char* gate = "policy gate\nfn worth(x: real) -> real = x * x\n";

// A run that is under the policy in `file`, by version `number`.
std::vector<allot::engine::PolicyText> run_under(const std::filesystem::path& run, const std::filesystem::path& file, int number = 0,
                                                 const std::string& seed = "seed-7") {
  const auto policy = allot::engine::load_policy(file, {});
  REQUIRE(policy);
  const auto arm = run / seed / "policy";
  const allot::engine::SwapFiles files(arm);
  std::filesystem::create_directories(files.folder);
  const allot::engine::Beat beat{allot::engine::host_name(), allot::engine::Beat::nobody, 1, (*policy)->program().hash, number};
  REQUIRE(allot::engine::replace_file(files.alive(), allot::engine::to_text(beat)));
  REQUIRE(allot::engine::keep_text(arm, policy->get()));
  REQUIRE(allot::engine::keep_state(arm, 0, "start", "a state, which is no policy"));
  return kept_policies(run);
}

}  // namespace

TEST_CASE("the hash of a policy is over all its files, as the folder names its version") {
  const Folder folder;
  const auto file = folder.write("both.allot", both);
  folder.write("imp/gate.allot", gate);
  run_under(folder.path() / "run", file);
  const auto hash = policy_hash(file);
  REQUIRE(hash);
  CHECK(std::filesystem::exists(folder.path() / "run" / "seed-7" / "policy" / "versions" / (*hash + ".json")));
  CHECK(*hash != allot::math::sha256_hex(both));

  folder.write("imp/gate.allot", std::string(gate) + "# edited\n");
  CHECK(*policy_hash(file) != *hash);
  folder.write("imp/gate.allot", "policy gate\nfn worth(");
  CHECK(*policy_hash(file) == allot::math::sha256_hex(both));  // it cannot be checked: what is left is the file
}

TEST_CASE("files that a policy names are compared with those that were kept") {
  const Folder folder;
  const auto run = folder.path() / "run";
  const auto file = folder.write("both.allot", both);
  const auto import = folder.write("imp/gate.allot", gate);
  const auto kept = run_under(run, file);
  REQUIRE(kept.size() == 1);
  CHECK(is_kept(file, kept));
  CHECK(policy_edits(run, file, OwnText::Told).empty());

  folder.write("imp/gate.allot", "policy gate\nfn worth(");
  CHECK(is_kept(file, kept));
  CHECK(policy_edits(run, file, OwnText::Told) == std::vector<std::string>{import.string() + " changed since"});
  CHECK(policy_edits(run, file, OwnText::Followed).size() == 1);  // only the file itself is followed

  std::filesystem::remove(import);
  const auto gone = policy_edits(run, file, OwnText::Told);
  REQUIRE(gone.size() == 1);
  CHECK(gone[0].find(import.string() + " cannot be read any more") == 0);

  folder.write("imp/gate.allot", gate);
  const auto hash = policy_hash(file);
  REQUIRE(hash);
  folder.write("both.allot", std::string(both) + "# another\n");
  CHECK_FALSE(is_kept(file, kept));
  CHECK(policy_edits(run, file, OwnText::Told) ==
        std::vector<std::string>{file.string() + " says something else than the active version 0 (" + hash->substr(0, 12) + ")"});
  CHECK(policy_edits(run, file, OwnText::Followed).empty());
}

TEST_CASE("an import that the run was swapped to is no change, and the one before it is") {
  const Folder folder;
  const auto run = folder.path() / "run";
  const auto file = folder.write("both.allot", both);
  const auto import = folder.write("imp/gate.allot", gate);
  run_under(run, file);
  run_under(run, file, 0, "seed-13");
  folder.write("imp/gate.allot", std::string(gate) + "# edited\n");
  REQUIRE(run_under(run, file, 1).size() == 3);
  const std::vector<std::string> told{import.string() + " changed since"};
  CHECK(policy_edits(run, file, OwnText::Told) == told);  // seed 13 was not swapped
  REQUIRE(run_under(run, file, 1, "seed-13").size() == 4);
  CHECK(policy_edits(run, file, OwnText::Told).empty());
  folder.write("imp/gate.allot", gate);  // back to what the run began with: a text that is kept, and not the active one
  CHECK(policy_edits(run, file, OwnText::Told) == told);  // once, not for each seed
}

TEST_CASE("a seed that had not begun begins as the others did") {
  const Folder folder;
  const auto run = folder.path() / "run", late = run / "seed-13" / "policy";
  CHECK(begin_as_others(run, late));
  CHECK_FALSE(std::filesystem::exists(late));  // nobody has begun
  const auto file = folder.write("both.allot", both);
  folder.write("imp/gate.allot", gate);
  run_under(run, file);
  const auto hash = policy_hash(file);
  REQUIRE(hash);
  auto first = RunFolder::open(run / "seed-7" / "policy", true);
  REQUIRE(first);
  REQUIRE(first->keep_policy(file, {"both", *hash}));
  folder.write("imp/gate.allot", std::string(gate) + "# edited\n");

  CHECK_FALSE(has_begun(late));
  REQUIRE(begin_as_others(run, late));
  CHECK(has_begun(late));
  auto second = RunFolder::open(late, true);
  REQUIRE(second);
  CHECK(second->kept_policy() == *hash);
  const auto text = allot::engine::kept_text(late, *hash);
  REQUIRE(text);
  REQUIRE(text->used.size() == 1);
  CHECK(text->used[0].file.text == gate);

  REQUIRE(second->keep_policy(file, {"both", "another"}));
  REQUIRE(begin_as_others(run, late));  // it has begun by now
  CHECK(second->kept_policy() == "another");
}

TEST_CASE("the policy moved to another place is looked for there") {
  const Folder folder, other;
  const auto file = folder.write("both.allot", both);
  folder.write("imp/gate.allot", gate);
  const auto run = folder.path() / "run";
  run_under(run, file);
  const auto moved = other.write("renamed.allot", both);
  const auto import = other.write("imp/gate.allot", gate);
  CHECK(policy_edits(run, moved, OwnText::Told).empty());
  other.write("imp/gate.allot", std::string(gate) + "# edited\n");
  CHECK(policy_edits(run, moved, OwnText::Told) == std::vector<std::string>{import.string() + " changed since"});
}
