#include "tests/conformance/compare.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace allot::conformance;

namespace {

bool same(const Json& expected, const Json& actual, const Tolerance& tolerance = {}) {
  return differences(expected, actual, tolerance).empty();
}

const double nan_value = std::nan("");

}  // namespace

TEST_CASE("a number outside the tolerance differs and one inside does not") {
  CHECK(same(1.0, 1.0));
  CHECK_FALSE(same(1.0, 1.0 + 1e-15));
  CHECK(same(1.0, 1.0 + 1e-13, {.absolute = 1e-12}));
  CHECK_FALSE(same(1.0, 1.0 + 1e-11, {.absolute = 1e-12}));
  CHECK(same(1e6, 1e6 + 1e-7, {.relative = 1e-12}));
  CHECK_FALSE(same(1e6, 1e6 + 1e-5, {.relative = 1e-12}));
  CHECK(same(1e6, 1e6 + 1e-7, {.absolute = 1e-12, .relative = 1e-12}));
}

TEST_CASE("whole numbers must be equal where the vector says so") {
  CHECK_FALSE(same(7, 7.25, {.absolute = 0.5, .exact_ints = true}));
  CHECK(same(7, 7.0, {.exact_ints = true}));
  CHECK(same(7.5, 7.25, {.absolute = 0.5, .exact_ints = true}));
}

TEST_CASE("shape, keys, truth values and words must be the same") {
  CHECK_FALSE(same({{"a", 1}}, {{"a", 1}, {"b", 2}}, {.absolute = 9}));
  CHECK_FALSE(same({{"a", 1}, {"b", 2}}, {{"a", 1}}, {.absolute = 9}));
  CHECK_FALSE(same(Json::array({1, 2}), Json::array({1}), {.absolute = 9}));
  CHECK_FALSE(same(Json::array({1, 2}), Json::array({1, 20}), {.absolute = 9}));
  CHECK_FALSE(same(true, 1, {.absolute = 9}));
  CHECK_FALSE(same(true, false, {.absolute = 9}));
  CHECK_FALSE(same("keep", "drop", {.absolute = 9}));
  CHECK_FALSE(same(0, nullptr, {.absolute = 9}));
  CHECK_FALSE(same(Json::object(), Json::array(), {.absolute = 9}));
  CHECK(same({{"a", {1, "x", true, nullptr}}}, {{"a", {1.0, "x", true, nullptr}}}));
}

TEST_CASE("a NaN equals a NaN alone and an infinity itself alone, whatever the tolerance") {
  CHECK(same("nan", nan_value, {.absolute = 1e300}));
  CHECK(same(nan_value, "nan"));
  CHECK_FALSE(same("nan", 0.0, {.absolute = 1e300}));
  CHECK_FALSE(same(0.0, nan_value, {.absolute = 1e300}));
  CHECK(same("inf", INFINITY));
  CHECK_FALSE(same("inf", -INFINITY, {.absolute = 1e300}));
  CHECK_FALSE(same("-inf", 0.0, {.absolute = 1e300}));
  CHECK_FALSE(same(1.0, INFINITY, {.relative = 1e300}));
}

TEST_CASE("a difference names its place") {
  const auto found = differences({{"a", {1, 2}}}, {{"a", {1, 3}}}, {});
  REQUIRE(found.size() == 1);
  CHECK(found[0] == "expected.a[1]: expected 2, got 3");
}

TEST_CASE("a tolerance that is not understood is refused") {
  CHECK(parse_tolerance({{"abs", 1e-9}, {"rel", 1e-6}}).relative == 1e-6);
  CHECK(parse_tolerance({{"exact", true}}).absolute == 0);
  CHECK_THROWS(parse_tolerance({{"ulp", 4}}));
  CHECK_THROWS(parse_tolerance({{"exact", false}}));
}
