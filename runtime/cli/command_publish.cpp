// allot publish: a package into a registry.
#include <fmt/core.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <filesystem>
#include <memory>

#include "runtime/cli/command.h"
#include "runtime/cli/packages.h"
#include "runtime/package/exchange/bundle.h"
#include "runtime/package/exchange/registry.h"

namespace allot::cli {

namespace fs = std::filesystem;

namespace {

struct PublishOptions {
  std::string what = ".";
  std::string registry;
  bool json = false;
};

Exit publish(const PublishOptions& options) {
  const auto registry = registry_folder(options.registry);
  if (!registry) return complain(registry.error()), Exit::Misuse;
  const auto package = package::read_package(options.what);
  if (!package) return complain(package.error()), Exit::Failed;
  const auto signers = package::signers(package->listing, package->signatures, {});
  if (!signers) return complain(signers.error()), Exit::Failed;
  std::error_code failure;
  if (fs::is_directory(options.what, failure) && !policies_are_right(options.what, *package)) {
    return complain({"the package has policies with errors, so it is not published", ""}), Exit::Failed;
  }
  const auto bytes = package::to_bundle(*package);
  if (!bytes) return complain(bytes.error()), Exit::Failed;
  const auto done = package::publish(*registry, *package, *bytes);
  if (!done) return complain(done.error()), Exit::Failed;
  const bool fresh = *done == package::Publish::New;
  if (options.json) {
    nlohmann::ordered_json json = to_json(*package, *signers);
    json["registry"] = registry->string();
    json["published"] = fresh;
    fmt::print("{}\n", json.dump(2));
    return Exit::Good;
  }
  fmt::print("{} {} {} in {}, {}\n", package->project.name, package->project.version->text(),
             fresh ? "is published" : "was there already, the same,", registry->string(),
             signers->empty() ? "not signed" : fmt::format("signed by {}", signers->front().key));
  return Exit::Good;
}

}  // namespace

void add_publish(CLI::App& app, Exit& exit) {
  auto options = std::make_shared<PublishOptions>();
  CLI::App* command = app.add_subcommand("publish", "Put a package into a registry, where a version never changes");
  command->add_option("WHAT", options->what, "a bundle, or the folder of a package")->capture_default_str();
  command->add_option("--registry", options->registry, "a registry of this project's allot.toml, or a folder")->required();
  command->add_flag("--json", options->json, "the same as JSON");
  command->footer(
      "A registry is a plain folder, shared in whichever way folders are; served over https it can be read from afar.\n"
      "The bundle appears there in one step, and nothing that is there is ever written over.\n"
      "examples:\n  allot publish --registry team\n  allot publish gates-1.2.0.tar.zst --registry /shared/allot\n"
      "exit status: 0 it is there, 1 refused: another package has this version already, or it is none; 2 no such registry");
  command->callback([options, &exit] { exit = publish(*options); });
}

}  // namespace allot::cli
