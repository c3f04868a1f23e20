#include "tests/conformance/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>

namespace allot::conformance {
namespace {

std::optional<double> as_number(const Json& json) {
  if (json.is_number()) return json.get<double>();
  if (json == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (json == "inf") return std::numeric_limits<double>::infinity();
  if (json == "-inf") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

bool equal_numbers(double expected, double actual, double bound) {
  if (std::isnan(expected) || std::isnan(actual)) return std::isnan(expected) && std::isnan(actual);
  if (std::isinf(expected) || std::isinf(actual)) return expected == actual;
  return std::fabs(expected - actual) <= bound;
}

class Comparison {
 public:
  explicit Comparison(const Tolerance& tolerance) : tolerance_(tolerance) {}

  void visit(const Json& expected, const Json& actual, const std::string& place) {
    if (expected.is_object() && actual.is_object()) {
      visit_objects(expected, actual, place);
    } else if (expected.is_array() && actual.is_array()) {
      visit_lists(expected, actual, place);
    } else if (!equal_leaves(expected, actual)) {
      found_.push_back(place + ": expected " + expected.dump() + ", got " + actual.dump());
    }
  }

  std::vector<std::string> found() && { return std::move(found_); }

 private:
  void visit_objects(const Json& expected, const Json& actual, const std::string& place) {
    for (const auto& [key, value] : expected.items()) {
      if (actual.contains(key)) {
        visit(value, actual.at(key), place + "." + key);
      } else {
        found_.push_back(place + "." + key + ": missing");
      }
    }
    for (const auto& [key, value] : actual.items()) {
      if (!expected.contains(key)) found_.push_back(place + "." + key + ": not expected");
    }
  }

  void visit_lists(const Json& expected, const Json& actual, const std::string& place) {
    if (expected.size() != actual.size()) {
      found_.push_back(place + ": expected " + std::to_string(expected.size()) + " elements, got " +
                       std::to_string(actual.size()));
      return;
    }
    for (std::size_t i = 0; i < expected.size(); ++i) {
      visit(expected[i], actual[i], place + "[" + std::to_string(i) + "]");
    }
  }

  bool equal_leaves(const Json& expected, const Json& actual) const {
    const std::optional<double> wanted = as_number(expected);
    const std::optional<double> got = as_number(actual);
    if (!wanted || !got) return expected == actual;
    if (tolerance_.exact_ints && expected.is_number_integer()) return *wanted == *got;
    return equal_numbers(*wanted, *got, std::max(tolerance_.absolute, tolerance_.relative * std::fabs(*wanted)));
  }

  Tolerance tolerance_;
  std::vector<std::string> found_;
};

}  // namespace

Tolerance parse_tolerance(const Json& json) {
  Tolerance tolerance;
  for (const auto& [key, value] : json.items()) {
    if (key == "abs") {
      tolerance.absolute = value.get<double>();
    } else if (key == "rel") {
      tolerance.relative = value.get<double>();
    } else if (key == "exact_ints" && value == true) {
      tolerance.exact_ints = true;
    } else if (key != "exact" || value != true) {
      throw std::invalid_argument("tolerance \"" + key + "\": " + value.dump() + " is not understood");
    }
  }
  return tolerance;
}

std::vector<std::string> differences(const Json& expected, const Json& actual, const Tolerance& tolerance) {
  Comparison comparison(tolerance);
  comparison.visit(expected, actual, "expected");
  return std::move(comparison).found();
}

double number(const Json& json) {
  if (const std::optional<double> value = as_number(json)) return *value;
  throw std::invalid_argument(json.dump() + " is no number");
}

std::vector<double> numbers(const Json& list) {
  std::vector<double> result;
  for (const Json& value : list) result.push_back(number(value));
  return result;
}

}  // namespace allot::conformance
