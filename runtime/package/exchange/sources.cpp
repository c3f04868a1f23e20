#include "runtime/package/exchange/sources.h"

#include <fmt/format.h>

#include <system_error>

#include "runtime/package/exchange/bundle.h"
#include "runtime/package/exchange/child.h"
#include "runtime/package/exchange/registry.h"
#include "runtime/package/limits.h"

namespace allot::package {

namespace fs = std::filesystem;

namespace {

constexpr int fetch_seconds = 60;

std::string host_of(std::string_view address) {
  std::string_view rest = address.substr(address.find("://") + 3);
  rest = rest.substr(0, rest.find_first_of("/?#"));
  if (const std::size_t at = rest.rfind('@'); at != std::string_view::npos) rest.remove_prefix(at + 1);
  if (rest.starts_with('[')) return std::string(rest.substr(0, rest.find(']') + 1));
  return std::string(rest.substr(0, rest.find(':')));
}

Result<Package> from_git(const Source& source, std::string& commit) {
  auto read = read_git(source.address, source.commit.empty() ? source.wanted : source.commit);
  if (!read) return read.error();
  commit = read->second;
  auto package = examine(std::move(read->first), false);
  if (!package) {
    return Error{fmt::format("the package in {} is refused: {}", source.address, package.error().what), package.error().help};
  }
  return package;
}

Result<Package> from_registry(const Source& source, const std::string& name, const std::map<std::string, std::string>& registries,
                              const fs::path& root) {
  const auto it = registries.find(source.address);
  if (it == registries.end()) {
    return Error{fmt::format("{} comes from the registry `{}`, which the project's allot.toml does not name", name, source.address),
                 fmt::format("[registries]\n{} = \"…\"", source.address)};
  }
  const auto version = parse_version(source.wanted);
  if (!version) return version.error();
  const std::string file = name + "/" + bundle_name(name, *version);
  if (it->second.find("://") != std::string::npos) {
    const std::string address = it->second + (it->second.ends_with('/') ? "" : "/") + file;
    const auto bytes = fetch(address);
    if (!bytes) return bytes.error();
    return from_bundle(*bytes, address);
  }
  const fs::path bundle = root / it->second / file;
  std::error_code failure;
  if (!fs::exists(bundle, failure)) {
    std::string has;
    for (const Version& each : versions_in(root / it->second, name)) has += (has.empty() ? "" : ", ") + each.text();
    return Error{fmt::format("the registry `{}` has no {} {}", source.address, name, source.wanted),
                 has.empty() ? "it has no version of it" : "it has " + has};
  }
  return read_package(bundle);
}

}  // namespace

bool is_open_http(const std::string& address) {
  if (!address.starts_with("http://")) return false;
  const std::string host = host_of(address);
  return host != "127.0.0.1" && host != "localhost" && host != "[::1]";
}

Result<std::string> fetch(const std::string& address) {
  if (is_open_http(address)) {
    return Error{fmt::format("{} is not fetched: plain http can be changed on its way", address), "use https"};
  }
  if (!address.starts_with("https://") && !address.starts_with("http://")) {
    return Error{fmt::format("{} is not fetched: only https addresses are", shown(address)),
                 address.starts_with("file:") ? "what lies on this machine is named by its path" : ""};
  }
  std::error_code failure;
  const fs::path self = fs::read_symlink("/proc/self/exe", failure);
  const std::string program = (self.parent_path() / "allot-fetch").string();
  ChildLimits bounds;
  bounds.seconds = fetch_seconds + 5;
  bounds.out_bytes = limits.bundle_bytes;
  const auto answer =
      run_child({program, address, std::to_string(limits.bundle_bytes), std::to_string(fetch_seconds)}, {}, bounds);
  if (!answer) return Error{fmt::format("cannot fetch {}: {}", address, answer.error().what), ""};
  if (answer->status == 127) {
    return Error{fmt::format("cannot fetch {}: {} cannot be started", address, program),
                 "a build without libcurl has none: packages.txt names it"};
  }
  if (answer->status != 0) {
    const std::string why = answer->err.substr(0, answer->err.find('\n'));
    const bool untrusted = why.find("certificate") != std::string::npos;
    return Error{fmt::format("cannot fetch {}: {}", address, why),
                 untrusted ? "where you trust it, name a file with its certificate, or with its authority's, in SSL_CERT_FILE" : ""};
  }
  return answer->out;
}

Result<Fetched> obtain(const Source& source, const std::string& name, const fs::path& root,
                       const std::map<std::string, std::string>& registries) {
  Source exact = source;
  auto package = [&]() -> Result<Package> {
    switch (source.kind) {
      case Source::Kind::Path: return read_package((root / source.address).lexically_normal());
      case Source::Kind::Git: return from_git(source, exact.commit);
      case Source::Kind::Url: {
        const auto bytes = fetch(source.address);
        if (!bytes) return bytes.error();
        return from_bundle(*bytes, source.address);
      }
      case Source::Kind::Registry: return from_registry(source, name, registries, root);
    }
    return Error{"there is no such source", ""};
  }();
  if (!package) return package.error();
  if (auto free = check_not_standard(package->project.name); !free) return free.error();
  if (!name.empty() && package->project.name != name) {
    return Error{fmt::format("the package from {} is called {}, not {}", source.text(), package->project.name, name), ""};
  }
  if (source.kind == Source::Kind::Registry && package->project.version->text() != source.wanted) {
    return Error{fmt::format("the package from {} says that it is {}", source.text(), package->project.version->text()), ""};
  }
  return Fetched{*std::move(package), exact};
}

}  // namespace allot::package
