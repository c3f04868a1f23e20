#include "runtime/package/exchange/resolve.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "runtime/package/exchange/bundle.h"
#include "runtime/package/limits.h"

namespace allot::package {

namespace fs = std::filesystem;

namespace {

// What comes from elsewhere has published its version.
bool is_work_in_progress(const Source& source) {
  return source.kind == Source::Kind::Path && !source.address.ends_with(bundle_ending);
}

class Resolver {
 public:
  Resolver(const fs::path& root, const Project& project, const Lock& before, const Wishes& wishes)
      : root_(root), project_(project), before_(before), wishes_(wishes) {}

  Result<Resolution> run() {
    path_.push_back(project_.name.empty() ? "this project" : project_.name);
    // What the project says of a package itself goes before what its packages say of it.
    for (const Dependency& dependency : project_.dependencies) {
      if (auto chosen = choose(dependency, false); !chosen) return chosen.error();
    }
    for (const Dependency& dependency : project_.dependencies) {
      if (auto walked = walk(dependency, false); !walked) return walked.error();
    }
    for (auto& [name, locked] : chosen_) result_.lock.packages.push_back(std::move(locked));
    return std::move(result_);
  }

 private:
  std::string way(const std::string& to) const {
    std::string text;
    for (const std::string& name : path_) text += name + " → ";
    return text + to;
  }

  // `outside`: it is named by a package that comes from elsewhere, so its author knows no folder of this machine.
  Result<void> walk(const Dependency& dependency, bool outside) {
    const std::string& name = dependency.name;
    if (std::find(path_.begin(), path_.end(), name) != path_.end()) {
      return Error{fmt::format("packages need each other in a circle: {}", way(name)), "move what both need into a third package"};
    }
    if (outside) {
      if (auto good = may_name(dependency); !good) return good.error();
    }
    if (const auto chosen = chosen_.find(name); chosen == chosen_.end()) {
      if (auto found = choose(dependency, outside); !found) return found;
    } else if (path_.size() > 1) {
      if (auto agreed = agree(dependency); !agreed) return agreed;
    }
    return walked_.insert(name).second ? walk_needs(asked_.at(name)) : Result<void>();
  }

  Result<void> choose(const Dependency& dependency, bool outside) {
    const std::string& name = dependency.name;
    if (chosen_.size() >= limits.packages) return Error{fmt::format("more than {} packages", limits.packages), way(name)};
    auto fetched = get(dependency);
    if (!fetched) return Error{fetched.error().what, fetched.error().help + (path_.size() > 1 ? "\n  needed by " + way(name) : "")};
    const Package& package = result_.packages.emplace(name, std::move(fetched->package)).first->second;
    Locked locked{name, *package.project.version, fetched->source, package.hash, {}};
    for (const Dependency& each : package.project.dependencies) locked.needs.push_back(each.name);
    chosen_.emplace(name, std::move(locked));
    asked_.emplace(name, Asked{dependency, outside});
    ways_.emplace(name, way(name));
    return {};
  }

  // How a package that was chosen was asked for.
  struct Asked {
    Dependency dependency;
    bool outside;
  };

  Result<void> walk_needs(const Asked& asked) {
    const std::string& name = asked.dependency.name;
    const Source& source = asked.dependency.source;
    std::error_code failure;
    const bool folder = source.kind == Source::Kind::Path && fs::is_directory(root_ / source.address, failure);
    path_.push_back(name);
    for (Dependency each : result_.packages.at(name).project.dependencies) {
      if (each.source.kind == Source::Kind::Path && folder && fs::path(each.source.address).is_relative()) {
        each.source.address = (fs::path(source.address) / each.source.address).lexically_normal().generic_string();
      }
      if (auto walked = walk(each, asked.outside || !folder); !walked) return walked.error();
    }
    path_.pop_back();
    return {};
  }

  Result<void> may_name(const Dependency& dependency) const {
    const Source& source = dependency.source;
    const bool local = source.kind == Source::Kind::Path ||
                       (source.kind == Source::Kind::Git && (source.address.starts_with('/') || source.address.starts_with("file:"))) ||
                       source.address.starts_with("http://");
    if (!local) return {};
    return Error{fmt::format("{} names {} by {}, which only its author's machine has", path_.back(), dependency.name, source.text()),
                 "its author must give an https address, a git repository or a registry"};
  }

  // A second one asks for what is chosen already.
  Result<void> agree(const Dependency& dependency) {
    const Locked& first = chosen_.at(dependency.name);
    if (first.source.same(dependency.source)) return {};
    // They agreed when the lock was written, and nobody asks for anything new: their sources need not be there today.
    if (kept_.contains(dependency.name) && kept_.contains(path_.back())) return {};
    const auto second = obtain(dependency.source, dependency.name, root_, project_.registries);
    if (!second) return second.error();
    if (second->package.hash == first.hash) return {};
    if (first.version == *second->package.project.version) {
      return Error{fmt::format("two different packages call themselves {} {}", dependency.name, first.version.text()),
                   fmt::format("{} from {}\n        {} from {}", ways_.at(dependency.name), first.source.text(), way(dependency.name),
                               dependency.source.text())};
    }
    return Error{fmt::format("two versions of {} are needed: {} and {}", dependency.name, first.version.text(),
                             second->package.project.version->text()),
                 fmt::format("{} from {}\n        {} from {}\n  a policy cannot hold both: let them ask for the same one",
                             ways_.at(dependency.name), first.source.text(), way(dependency.name), dependency.source.text())};
  }

  Result<Fetched> get(const Dependency& dependency) {
    const std::string& name = dependency.name;
    const Locked* const locked = before_.find(name);
    const bool keep = locked != nullptr && locked->source.same(dependency.source) && !wishes_.renew.contains(name);
    if (keep) {
      if (auto package = read_installed(root_, *locked, project_.keys)) {
        kept_.insert(name);
        return Fetched{*std::move(package), locked->source};
      }
    }
    const auto at_hand = wishes_.at_hand.find(name);
    const bool have = at_hand != wishes_.at_hand.end() && at_hand->second.source.same(dependency.source);
    auto fetched = have ? Result<Fetched>(at_hand->second)
                        : obtain(keep ? locked->source : dependency.source, name, root_, project_.registries);
    if (!fetched) return fetched;
    const Package& package = fetched->package;
    if (const auto trusted = signers(package.listing, package.signatures, project_.keys); !trusted) {
      return Error{fmt::format("the package {} from {} is refused: {}", name, dependency.source.text(), trusted.error().what),
                   trusted.error().help};
    }
    if (auto good = compare(dependency, package, locked, keep); !good) return good.error();
    return fetched;
  }

  Result<void> compare(const Dependency& dependency, const Package& package, const Locked* locked, bool keep) const {
    if (locked == nullptr) return {};
    const Version version = *package.project.version;
    const std::string name = dependency.name;
    if (keep && package.hash != locked->hash) {
      return Error{fmt::format("{} from {} is not what allot.lock names: its hash is {}, not {}", name, dependency.source.text(),
                               package.hash.substr(0, 12), locked->hash.substr(0, 12)),
                   fmt::format("if the change is meant, `allot add {}` takes it", name)};
    }
    if (version < locked->version && !wishes_.downgrade) {
      return Error{fmt::format("{} would go back from {} to {}", name, locked->version.text(), version.text()),
                   "an old version may be one that is known to be wrong; `--downgrade` takes it all the same"};
    }
    const bool published = !is_work_in_progress(dependency.source) && !is_work_in_progress(locked->source);
    if (published && version == locked->version && package.hash != locked->hash) {
      return Error{fmt::format("{} {} has other files than allot.lock knows of this version", name, version.text()),
                   "a version never changes: ask its author for a new one"};
    }
    return {};
  }

  const fs::path& root_;
  const Project& project_;
  const Lock& before_;
  const Wishes& wishes_;
  Resolution result_;
  std::map<std::string, Locked> chosen_;
  std::set<std::string> kept_;  // of them, those that are installed as they are locked
  std::map<std::string, Asked> asked_;
  std::set<std::string> walked_;  // of them, those whose needs were looked at
  std::map<std::string, std::string> ways_;  // how each was reached first
  std::vector<std::string> path_;
};

}  // namespace

Result<Resolution> resolve(const fs::path& root, const Project& project, const Lock& before, const Wishes& wishes) {
  return Resolver(root, project, before, wishes).run();
}

}  // namespace allot::package
