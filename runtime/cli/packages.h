// What the commands about packages share.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"
#include "runtime/package/content.h"

namespace allot::cli {

struct Here {
  std::filesystem::path root;
  package::Project project;
  package::Lock lock;
};
// The project around this folder: its allot.toml and its lock.
Result<Here> project_here();
// The same without an error where there is no project at all.
Result<std::optional<Here>> maybe_project_here();

// Name, version, hash, signers and files of a package.
nlohmann::ordered_json to_json(const package::Package& package, const std::vector<package::Signer>& signers);

// "signed by alice", "signed by ed25519:…, which this project does not trust", "not signed".
std::string in_words(const std::vector<package::Signer>& signers);

// Whether every policy of the folder is right; what is wrong is shown.
bool policies_are_right(const std::filesystem::path& folder, const package::Package& package);

// How the policies of a package are imported: "gates.converge", …
std::vector<std::string> import_names(const package::Package& package);

// The folder of a registry: a name of the project's allot.toml, or a folder itself.
Result<std::filesystem::path> registry_folder(const std::string& named);

}  // namespace allot::cli
