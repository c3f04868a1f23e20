// allot pack: a package as one file.
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

struct PackOptions {
  std::string folder = ".";
  std::string out = ".";
  bool json = false;
};

Exit pack(const PackOptions& options) {
  std::error_code failure;
  if (!fs::is_directory(options.folder, failure)) {
    return complain({fmt::format("{} is no folder", options.folder), "name the folder of a package, with its allot.toml"}), Exit::Misuse;
  }
  const auto package = package::read_package(options.folder);
  if (!package) return complain(package.error()), Exit::Failed;
  if (!policies_are_right(options.folder, *package)) {
    return complain({"the package has policies with errors, so it is not packed", ""}), Exit::Failed;
  }
  const auto bytes = package::to_bundle(*package);
  if (!bytes) return complain(bytes.error()), Exit::Failed;
  const fs::path file = fs::is_directory(options.out, failure)
                            ? fs::path(options.out) / package::bundle_name(package->project.name, *package->project.version)
                            : fs::path(options.out);
  if (fs::exists(file, failure) && !fs::is_regular_file(file, failure)) {
    return complain({fmt::format("{} is no file that could be replaced", file.string()), "name a folder or a file with --out"}), Exit::Misuse;
  }
  if (auto written = engine::replace_file(file.lexically_normal(), *bytes); !written) {
    return complain(written.error()), Exit::Misuse;
  }
  const auto signers = package::signers(package->listing, package->signatures, {});
  if (!signers) return complain(signers.error()), Exit::Failed;
  if (options.json) {
    nlohmann::ordered_json json = to_json(*package, *signers);
    json["bundle"] = file.lexically_normal().string();
    fmt::print("{}\n", json.dump(2));
    return Exit::Good;
  }
  fmt::print("{}\n{} {}, {} files, sha256 {}, {}\n", file.lexically_normal().string(), package->project.name,
             package->project.version->text(), package->files.size(), package->hash,
             signers->empty() ? "not signed" : fmt::format("signed by {}", signers->front().key));
  return Exit::Good;
}

}  // namespace

void add_pack(CLI::App& app, Exit& exit) {
  auto options = std::make_shared<PackOptions>();
  CLI::App* command = app.add_subcommand("pack", "Make one file of a package: NAME-VERSION.tar.zst");
  command->add_option("FOLDER", options->folder, "the package: a folder with an allot.toml that has a name and a version")
      ->capture_default_str();
  command->add_option("--out", options->out, "the folder or file to write it to")->capture_default_str();
  command->add_flag("--json", options->json, "the same as JSON");
  command->footer(
      "Packed are allot.toml and every .allot, .md, README, LICENSE and NOTICE file below the folder; hidden folders and\n"
      "folders with an allot.toml of their own are left out. Every policy must be right. The same files give the same\n"
      "bytes: no times, owners or modes are in it. The sha256 is that of the list of all files with their hashes.\n"
      "examples:\n  allot pack\n  allot pack ../gates --out /tmp\n"
      "exit status: 0 packed, 1 no package, or errors in its policies; 2 it could not be written");
  command->callback([options, &exit] { exit = pack(*options); });
}

}  // namespace allot::cli
