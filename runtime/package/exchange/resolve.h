// From what a project asks for to the exact packages that it gets.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "common/result.h"
#include "runtime/package/content.h"
#include "runtime/package/exchange/sources.h"
#include "runtime/package/lock.h"
#include "runtime/package/project.h"

namespace allot::package {

struct Wishes {
  std::set<std::string> renew;             // packages that are asked for again although the lock has them
  std::map<std::string, Fetched> at_hand;  // what was fetched for them already
  bool downgrade = false;                  // a lower version than the lock's is meant
};

struct Resolution {
  Lock lock;
  std::map<std::string, Package> packages;  // all of the lock, by name
};

// Walks what the project names, what these packages name, and so on. What the lock has and still fits is taken as it is
// locked, and must have its hash; everything else is fetched. An error where two ask for different versions of one
// package, where packages need each other in a circle (both with the way there), where a version would go back, where a
// version has other files than the lock knows, and where a package is not signed by a key that the project trusts.
Result<Resolution> resolve(const std::filesystem::path& root, const Project& project, const Lock& before, const Wishes& wishes);

}  // namespace allot::package
