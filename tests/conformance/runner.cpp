#include "tests/conformance/runner.h"

#include <algorithm>
#include <exception>
#include <fstream>
#include <optional>
#include <sstream>

#include "tests/conformance/compare.h"

namespace allot::conformance {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> vector_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code missing;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, missing)) {
    if (entry.path().filename().string().ends_with("_vectors.json")) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> differences_of(const Json& vector, const Adapter& adapter) {
  try {
    const Tolerance tolerance = parse_tolerance(vector.value("tolerance", Json::object()));
    return differences(vector.at("expected"), adapter(vector.at("inputs")), tolerance);
  } catch (const std::exception& error) {
    return {std::string("stopped: ") + error.what()};
  }
}

bool matches(const std::string& pattern, const std::string& name) {
  return pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1)) : name == pattern;
}

struct Line {
  std::string subject;
  std::string rest;
};

std::optional<std::vector<Line>> read_lines(const fs::path& file) {
  std::ifstream stream(file);
  if (!stream) return std::nullopt;
  std::vector<Line> lines;
  for (std::string text; std::getline(stream, text);) {
    std::istringstream words(text.substr(0, text.find('#')));
    Line line;
    if (words >> line.subject >> line.rest) lines.push_back(line);
  }
  return lines;
}

}  // namespace

FunctionCounts Report::total() const {
  FunctionCounts sum;
  for (const auto& [name, counts] : functions) {
    sum.passed += counts.passed;
    sum.failed += counts.failed;
    sum.skipped += counts.skipped;
  }
  return sum;
}

Result<Demands> read_demands(const fs::path& folder, const std::vector<std::string>& subjects) {
  const auto wanted = [&subjects](const Line& line) {
    return std::find(subjects.begin(), subjects.end(), line.subject) != subjects.end();
  };
  const auto required = read_lines(folder / "required.txt");
  const auto minimum = read_lines(folder / "minimum.txt");
  if (!required || !minimum) return Error{"required.txt or minimum.txt is missing in " + folder.string(), ""};
  Demands demands;
  for (const Line& line : *required) {
    if (wanted(line)) demands.required.push_back(line.rest);
  }
  for (const Line& line : *minimum) {
    if (line.rest.find_first_not_of("0123456789") != std::string::npos) {
      return Error{"minimum.txt: '" + line.rest + "' is no count", ""};
    }
    if (wanted(line)) demands.minimum += std::stoi(line.rest);
  }
  if (demands.required.empty() || demands.minimum == 0) return Error{"nothing is demanded of the conformance run", ""};
  return demands;
}

void run_vectors(const Json& file, const Registry& registry, Report& report) {
  for (const Json& vector : file.at("vectors")) {
    const std::string function = vector.at("function");
    FunctionCounts& counts = report.functions[function];
    const Adapter* adapter = registry.find(function);
    if (adapter == nullptr) {
      ++counts.skipped;
      continue;
    }
    const std::vector<std::string> found = differences_of(vector, *adapter);
    ++(found.empty() ? counts.passed : counts.failed);
    const std::string name = function + " " + vector.value("id", std::string("(no id)"));
    for (const std::string& line : found) report.failures.push_back(name + ": " + line);
  }
}

Result<Report> run_folder(const fs::path& folder, const Registry& registry) {
  const std::vector<fs::path> files = vector_files(folder);
  if (files.empty()) {
    return Error{"There is no file *_vectors.json in " + folder.string() + ".",
                 "Set ALLOT_VECTORS to a folder of them."};
  }
  Report report;
  for (const fs::path& path : files) {
    try {
      std::ifstream stream(path);
      run_vectors(Json::parse(stream), registry, report);
    } catch (const std::exception& error) {
      return Error{path.string() + " is no vector file: " + error.what(), ""};
    }
  }
  return report;
}

std::vector<std::string> complaints(const Report& report, const Demands& demands) {
  std::vector<std::string> found = report.failures;
  for (const auto& [name, counts] : report.functions) {
    const bool required = std::any_of(demands.required.begin(), demands.required.end(),
                                      [&name = name](const std::string& pattern) { return matches(pattern, name); });
    if (required && counts.skipped > 0) found.push_back(name + " is required and was skipped");
  }
  const int passed = report.total().passed;
  if (passed < demands.minimum) {
    found.push_back(std::to_string(passed) + " vectors passed, the committed count is " +
                    std::to_string(demands.minimum));
  }
  return found;
}

std::string rendered(const Report& report) {
  std::ostringstream text;
  for (const auto& [name, counts] : report.functions) {
    if (counts.skipped > 0) {
      text << "SKIPPED  " << name << " (" << counts.skipped << ", not known yet)\n";
    } else {
      text << (counts.failed > 0 ? "FAILED   " : "passed   ") << name << " (" << counts.passed << " of "
           << counts.passed + counts.failed << ")\n";
    }
  }
  const FunctionCounts total = report.total();
  text << total.passed << " passed, " << total.failed << " failed, " << total.skipped << " skipped\n";
  return text.str();
}

}  // namespace allot::conformance
