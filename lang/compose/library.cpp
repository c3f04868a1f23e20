#include "lang/compose/library.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

#include "lang/limits.h"

namespace allot::lang {
namespace {

namespace fs = std::filesystem;

fs::path relative_file(const std::string& name) {
  std::string text = name;
  std::replace(text.begin(), text.end(), '.', '/');
  return text + ".allot";
}

// The folder `stdlib` in `start` or the nearest folder above it.
std::optional<fs::path> library_above(fs::path start) {
  std::error_code failure;
  for (start = fs::absolute(start, failure).lexically_normal(); !failure; start = start.parent_path()) {
    if (fs::is_directory(start / "stdlib", failure)) return start / "stdlib";
    if (start == start.parent_path()) break;
    failure.clear();
  }
  return std::nullopt;
}

std::string whole_path(const std::string& path) {
  std::error_code failure;
  const fs::path whole = fs::canonical(path, failure);
  return failure ? path : whole.string();
}

// That of the file which holds this code: the program, or the module that another program has loaded.
std::optional<fs::path> library_of_program() {
  Dl_info here{};
  const bool known = ::dladdr(reinterpret_cast<const void*>(&whole_path), &here) != 0 && here.dli_fname != nullptr;
  const bool is_module = known && fs::path(here.dli_fname).extension() == ".so";
  std::error_code failure;
  const fs::path file = is_module ? fs::canonical(here.dli_fname, failure) : fs::read_symlink("/proc/self/exe", failure);
  if (failure) return std::nullopt;
  return library_above(file.parent_path());
}

Result<FoundFile> read(const fs::path& path, const std::string& name) {
  std::error_code failure;
  if (fs::file_size(path, failure) > limits.source_bytes || failure) {
    return Error{"`" + name + "` is " + path.string() + ", which is larger than " +
                     std::to_string(limits.source_bytes) + " bytes.", ""};
  }
  std::ifstream stream(path, std::ios::binary);
  FoundFile found;
  found.text.assign(std::istreambuf_iterator<char>(stream), {});
  if (!stream) return Error{"`" + name + "` is " + path.string() + ", which cannot be read.", ""};
  found.path = path.string();
  found.key = whole_path(found.path);
  return found;
}

}  // namespace

std::shared_ptr<const SearchPath> SearchPath::with_environment(std::vector<fs::path> folders) {
  const char* const variable = std::getenv("ALLOT_PATH");
  std::istringstream more(variable == nullptr ? "" : variable);
  for (std::string folder; std::getline(more, folder, ':');) {
    if (!folder.empty()) folders.emplace_back(folder);
  }
  return std::make_shared<const SearchPath>(std::move(folders));
}

std::vector<fs::path> SearchPath::local_places(const std::string& importing) const {
  std::vector<fs::path> places{fs::path(importing).parent_path()};
  places.insert(places.end(), folders_.begin(), folders_.end());
  return places;
}

std::optional<Result<FoundFile>> SearchPath::find_local(const std::string& name, const std::string& importing) const {
  std::error_code failure;
  for (const fs::path& place : local_places(importing)) {
    const fs::path file = place / relative_file(name);
    if (fs::is_regular_file(file, failure)) return read(file, name);
  }
  return std::nullopt;
}

Result<FoundFile> SearchPath::find(const std::string& name, const std::string& importing) const {
  std::vector<fs::path> places = local_places(importing);
  const fs::path beside = places.front();
  std::error_code failure;
  if (auto library = library_above(beside.empty() ? fs::path(".") : beside)) places.push_back(*std::move(library));
  if (auto library = library_of_program()) places.push_back(*std::move(library));
  std::string looked;
  for (const fs::path& place : places) {
    const fs::path file = place / relative_file(name);
    if (fs::is_regular_file(file, failure)) return read(file, name);
    if (looked.find(file.string()) == std::string::npos) looked += (looked.empty() ? "" : ", ") + file.string();
  }
  return Error{"there is no file for `" + name + "`", "looked for " + looked + "; `--path FOLDER` adds a folder"};
}

std::string SearchPath::key(const std::string& path) const { return whole_path(path); }

std::optional<fs::path> standard_file(const std::string& name) {
  const auto library = library_of_program();
  std::error_code failure;
  if (!library || !fs::is_regular_file(*library / relative_file(name), failure)) return std::nullopt;
  return *library / relative_file(name);
}

std::string TextLibrary::key(const std::string& path) const {
  return path.ends_with(".allot") ? path.substr(0, path.size() - std::string(".allot").size()) : path;
}

Result<FoundFile> TextLibrary::find(const std::string& name, const std::string& importing) const {
  const std::string from = key(importing);
  const std::size_t dot = from.rfind('.');
  const std::string beside = dot == std::string::npos ? name : from.substr(0, dot + 1) + name;
  const auto it = texts_.contains(beside) ? texts_.find(beside) : texts_.find(name);
  if (it == texts_.end()) return Error{"there is no file for `" + name + "`", ""};
  return FoundFile{it->first + ".allot", it->first, it->second};
}

}  // namespace allot::lang
