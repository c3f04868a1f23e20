#include "runtime/package/library.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "lang/diagnostics.h"

namespace allot::package {

namespace fs = std::filesystem;

namespace {

// `team.gates.soft` in the package `team.gates` is soft.allot, and `team.gates` itself gates.allot. Nothing where the
// name does not begin with that of the package.
std::optional<std::string> file_in(std::string_view name, const std::string& package) {
  std::string rest;
  if (name == package) {
    rest = package.substr(package.rfind('.') + 1);
  } else if (name.starts_with(package + ".")) {
    rest = name.substr(package.size() + 1);
  } else {
    return std::nullopt;
  }
  std::replace(rest.begin(), rest.end(), '.', '/');
  return rest + ".allot";
}

// The installed package that the file lies in.
std::optional<fs::path> package_folder(const fs::path& file, const fs::path& root) {
  std::error_code failure;
  const fs::path whole = fs::weakly_canonical(fs::absolute(file, failure), failure);
  const fs::path packages = root / ".allot" / "packages";
  for (fs::path folder = whole.parent_path(); folder != folder.parent_path(); folder = folder.parent_path()) {
    if (folder.parent_path() == packages) return folder;
  }
  return std::nullopt;
}

Error no_such_file(const Package& package, const std::string& name, const std::string& file) {
  std::vector<std::string> names;
  for (const auto& [path, bytes] : package.files) {
    if (path.ends_with(".allot")) names.push_back(path);
  }
  std::string all;
  for (const std::string& each : names) all += (all.empty() ? "" : ", ") + each;
  const std::string near = lang::near_match(file, names);
  return Error{fmt::format("there is no file for `{}`", name),
               fmt::format("the package {} {} has no {}; {}", package.project.name, package.project.version->text(), file,
                           near.empty() ? "it holds " + all : "did you mean " + near + "?")};
}

// The program's own: an installed package sees no `stdlib` of the project that uses it, nor of a folder above.
std::optional<fs::path> standard_folder() {
  const auto known = lang::standard_file("dynamic_sampling");
  return known ? std::optional(known->parent_path()) : std::nullopt;
}

Result<lang::FoundFile> find_standard(const fs::path& standard, const std::string& name, const std::string& importing) {
  const lang::SearchPath places(std::vector<fs::path>{standard});
  if (auto found = places.find_local(name, importing)) return *std::move(found);
  return Error{fmt::format("there is no file for `{}`", name),
               "a package sees its own files, the packages that its allot.toml names, and stdlib"};
}

// The shortest way to say where it is.
std::string shown_path(const fs::path& file) {
  std::error_code failure;
  const fs::path here = fs::current_path(failure);
  const fs::path relative = file.lexically_relative(here);
  return failure || relative.empty() || *relative.begin() == ".." ? file.string() : relative.string();
}

}  // namespace

std::optional<Library::Context> Library::context_of(const fs::path& importing) const {
  const auto root = find_project(importing.parent_path().empty() ? fs::path(".") : importing.parent_path());
  if (!root) return std::nullopt;
  auto project = read_project(*root);
  Context context{*root, project, read_lock(*root), project ? project->keys : std::vector<Key>(), false, *root};
  if (const auto folder = package_folder(importing, *root)) {
    context.installed = true;
    context.folder = *folder;
    context.project = read_project(*folder);
  }
  return context;
}

Result<const Package*> Library::package_of(const Context& context, const std::string& name) const {
  if (!context.lock) return context.lock.error();
  const Locked* const locked = context.lock->find(name);
  if (locked == nullptr) {
    return Error{fmt::format("the package {} is not in allot.lock", name), "`allot add` brings what allot.toml names"};
  }
  const std::lock_guard guard(mutex_);
  const std::string folder = installed_folder(context.root, *locked).string();
  auto it = packages_.find(folder);
  if (it == packages_.end()) it = packages_.emplace(folder, read_installed(context.root, *locked, context.keys)).first;
  if (!it->second) return it->second.error();
  return &*it->second;
}

Result<lang::FoundFile> Library::find(const std::string& name, const std::string& importing) const {
  const std::optional<Context> context = context_of(importing);
  if (!context) return search_->find(name, importing);
  std::vector<lang::FoundFile> found;
  std::optional<Error> problem;
  if (!context->project) {
    problem = context->project.error();
  } else {
    for (const Dependency& dependency : context->project->dependencies) {
      const auto file = file_in(name, dependency.name);
      if (!file) continue;
      const auto package = package_of(*context, dependency.name);
      if (!package) return package.error();
      const auto it = (*package)->files.find(*file);
      if (it == (*package)->files.end()) {
        problem = no_such_file(**package, name, *file);
        continue;
      }
      const fs::path path = installed_folder(context->root, *context->lock->find(dependency.name)) / *file;
      found.push_back({shown_path(path), search_->key(path.string()), it->second, ""});
    }
  }
  // A file of the project itself by that name; a package sees its own files alone.
  const lang::SearchPath own(std::vector<fs::path>{context->folder});
  const lang::SearchPath& search = context->installed ? own : *search_;
  if (auto local = search.find_local(name, importing)) {
    if (!*local) return local->error();
    found.push_back(**std::move(local));
  }
  if (found.empty()) {
    if (problem) return *problem;
    if (!context->installed) return search.find(name, importing);
    if (const auto standard = standard_folder()) return find_standard(*standard, name, importing);
    return Error{fmt::format("there is no file for `{}`", name), "and this program has no stdlib beside or above it"};
  }
  if (found.size() > 1 && found[1].key != found[0].key) found[0].also = found[1].path;
  return std::move(found.front());
}

std::shared_ptr<const lang::Library> environment_library() {
  return std::make_shared<const Library>(lang::SearchPath::with_environment());
}

}  // namespace allot::package
