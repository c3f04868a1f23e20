// Runs the vectors of a folder against a registry, and says whether that is enough.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/result.h"
#include "tests/conformance/registry.h"

namespace allot::conformance {

struct FunctionCounts {
  int passed = 0;
  int failed = 0;
  int skipped = 0;
};

struct Report {
  std::map<std::string, FunctionCounts> functions;
  std::vector<std::string> failures;  // one line each: vector, place, expected, got
  FunctionCounts total() const;
};

// What must hold beside "no vector fails". Function names may end in `*`.
struct Demands {
  std::vector<std::string> required;  // these may not be skipped
  int minimum = 0;                    // vectors that must pass
};
// Reads required.txt (lines "SUBJECT FUNCTION") and minimum.txt (lines "SUBJECT COUNT") for the given subjects; `#`
// starts a comment. A missing or malformed file is an error.
Result<Demands> read_demands(const std::filesystem::path& folder, const std::vector<std::string>& subjects);

// Every file *_vectors.json of the folder, in the order of their names. No such file is an error, and so is one that is
// not in the format.
Result<Report> run_folder(const std::filesystem::path& folder, const Registry& registry);
void run_vectors(const Json& file, const Registry& registry, Report& report);

// Why the report is not good enough; empty where it is.
std::vector<std::string> complaints(const Report& report, const Demands& demands);
std::string rendered(const Report& report);

}  // namespace allot::conformance
