// The ctest `conformance`: the project's functions against the vector files of $ALLOT_VECTORS.
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "tests/conformance/registry.h"
#include "tests/conformance/runner.h"

namespace {

using namespace allot::conformance;

int fail(const std::string& text) {
  std::cerr << text << '\n';
  return EXIT_FAILURE;
}

}  // namespace

int main() {
  const std::filesystem::path tests = std::filesystem::path(ALLOT_SOURCE_DIR) / "tests";
  const char* elsewhere = std::getenv("ALLOT_VECTORS");
  const std::filesystem::path folder = elsewhere != nullptr && *elsewhere != '\0' ? elsewhere : tests / "vectors";

  Registry registry;
  std::vector<std::string> subjects = {"base"};
  register_statistics(registry);
  register_allocation(registry);
  register_methods(registry);
  register_expressions(registry);
  register_policies(registry);
#ifdef ALLOT_WITH_TRAINING
  subjects.emplace_back("training");
#endif
#ifdef ALLOT_WITH_ESTIMATORS
  register_estimators(registry);
#endif

  const auto demands = read_demands(tests / "conformance", subjects);
  if (!demands) return fail(demands.error().text());
  const auto report = run_folder(folder, registry);
  if (!report) return fail(report.error().text());
  std::cout << rendered(*report);
  const std::vector<std::string> found = complaints(*report, *demands);
  for (const std::string& line : found) std::cout << "FAILED: " << line << '\n';
  return found.empty() ? EXIT_SUCCESS : EXIT_FAILURE;
}
