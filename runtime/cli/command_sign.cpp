// allot sign: keys, and signatures on packages.
#include <fmt/core.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <filesystem>
#include <memory>

#include "runtime/cli/command.h"
#include "runtime/cli/packages.h"
#include "runtime/engine/journal.h"
#include "runtime/package/exchange/bundle.h"

namespace allot::cli {

namespace fs = std::filesystem;

namespace {

struct SignOptions {
  std::string what;
  std::string key;
  std::string new_key;
  bool json = false;
};

void print_key(const std::string& public_key, const SignOptions& options) {
  if (options.json) return fmt::print("{}\n", nlohmann::ordered_json{{"public_key", public_key}}.dump(2));
  fmt::print("{}\n", public_key);
}

Exit make_key(const SignOptions& options) {
  const auto made = package::new_key(options.new_key);
  if (!made) return complain(made.error()), Exit::Misuse;
  print_key(*made, options);
  fmt::print(stderr, "allot: {} is the secret half; keep it to yourself. Who trusts you writes into allot.toml:\n  [keys]\n  you = \"{}\"\n",
             options.new_key, *made);
  return Exit::Good;
}

// What is published is read-only: a version there never changes, its signatures neither.
std::optional<Error> not_to_be_changed(const fs::path& what) {
  std::error_code failure;
  const fs::file_status status = fs::status(what, failure);
  if (!fs::is_regular_file(status) || (status.permissions() & fs::perms::owner_write) != fs::perms::none) return std::nullopt;
  return Error{fmt::format("{} is read-only, as a published bundle is", what.string()), "sign the package before it is published"};
}

Result<void> write_back(const fs::path& what, const package::Package& package) {
  std::error_code failure;
  if (fs::is_directory(what, failure)) {
    if (auto written = engine::replace_file(what / package::listing_file, package.listing); !written) return written;
    return engine::replace_file(what / package::signature_file, package.signatures);
  }
  const auto bytes = package::to_bundle(package);
  if (!bytes) return bytes.error();
  const fs::path file = fs::canonical(what, failure);  // a link goes on leading there
  if (failure) return Error{fmt::format("cannot find {}: {}", what.string(), failure.message()), ""};
  const fs::perms mode = fs::status(file, failure).permissions();
  if (auto written = engine::replace_file(file, *bytes); !written) return written;
  fs::permissions(file, mode, failure);
  return {};
}

// Signing again is how a stale list is renewed, so that of a folder is not asked for.
Result<package::Package> read_to_sign(const fs::path& what) {
  std::error_code failure;
  if (!fs::is_directory(what, failure)) return package::read_package(what);
  auto files = package::read_folder(what);
  if (!files) return files.error();
  const auto list = files->find(std::string(package::listing_file));
  const std::string before = list == files->end() ? "" : list->second;
  package::Files alone = *files;
  alone.erase(std::string(package::listing_file));
  alone.erase(std::string(package::signature_file));
  auto package = package::examine(std::move(alone), false);
  if (!package) return package;
  const auto signature = files->find(std::string(package::signature_file));
  if (before == package->listing && signature != files->end()) package->signatures = signature->second;
  return package;
}

Exit sign(const SignOptions& options) {
  if (!options.new_key.empty()) return make_key(options);
  if (options.key.empty()) {
    return complain({"with which key?", "--key FILE signs, --new-key FILE makes one"}), Exit::Misuse;
  }
  const auto key = package::read_key(options.key);
  if (!key) return complain(key.error()), Exit::Misuse;
  if (options.what.empty()) return print_key(key->public_text(), options), Exit::Good;
  if (const auto problem = not_to_be_changed(options.what)) return complain(*problem), Exit::Failed;
  auto package = read_to_sign(options.what);
  if (!package) return complain(package.error()), Exit::Failed;
  auto signatures = package::sign(package->listing, *key, package->signatures);
  if (!signatures) return complain(signatures.error()), Exit::Failed;
  package->signatures = *std::move(signatures);
  if (const auto written = write_back(options.what, *package); !written) return complain(written.error()), Exit::Misuse;
  const auto signers = package::signers(package->listing, package->signatures, {});
  if (!signers) return complain(signers.error()), Exit::Failed;
  if (options.json) {
    fmt::print("{}\n", to_json(*package, *signers).dump(2));
  } else {
    fmt::print("{} {} ({}) is signed by {}\n", package->project.name, package->project.version->text(), options.what, key->public_text());
  }
  return Exit::Good;
}

}  // namespace

void add_sign(CLI::App& app, Exit& exit) {
  auto options = std::make_shared<SignOptions>();
  CLI::App* command = app.add_subcommand("sign", "Sign a package, or make a key to sign with");
  command->add_option("WHAT", options->what, "a bundle, which gets the signature; or a folder, which gets allot.files and "
                                             "allot.signature; nothing: the public key is printed");
  CLI::Option* key = command->add_option("--key", options->key, "the file of the secret key; nobody but you may read it");
  command->add_option("--new-key", options->new_key, "make a fresh key, in this new file")->excludes(key);
  command->add_flag("--json", options->json, "the same as JSON");
  command->footer(
      "The signature (Ed25519) is over the list of all files with their hashes. Others trust it by your public key in the\n"
      "[keys] of their allot.toml; with one key there, a package that none of them signed is refused.\n"
      "examples:\n  allot sign --new-key me.key\n  allot sign gates-1.2.0.tar.zst --key me.key\n  allot sign --key me.key\n"
      "exit status: 0 signed, 1 the package is refused, 2 a key that cannot be used");
  command->callback([options, &exit] { exit = sign(*options); });
}

}  // namespace allot::cli
