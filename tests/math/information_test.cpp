#include <catch2/catch.hpp>

#include <cmath>
#include <vector>

#include "runtime/math/information.h"
#include "runtime/math/tree.h"

using namespace allot::math;
using Values = std::vector<double>;
using Nodes = std::vector<std::int64_t>;

// Equal weights of n have ln n; (1, 3): p = 1/4, 3/4.
TEST_CASE("entropies") {
  CHECK(*weights_entropy(Values{2, 2, 2}) == Approx(std::log(3.0)));
  CHECK(*weights_entropy(Values{1, 3, 0}) == Approx(0.25 * std::log(4.0) + 0.75 * std::log(4.0 / 3)));
  CHECK(*weights_entropy(Values{5}) == 0);
  CHECK(!weights_entropy(Values{0, 0}));
  CHECK(!weights_entropy(Values{}));
  CHECK(!weights_entropy(Values{-1, 2}));
  CHECK(bernoulli_entropy(0.5) == Approx(std::log(2.0)));
  CHECK(bernoulli_entropy(0) == 0);
  CHECK(bernoulli_entropy(1) == 0);
  CHECK(bernoulli_kl(0.5, 0.5) == 0);
  CHECK(bernoulli_kl(0, 0.5) == Approx(std::log(2.0)));
  CHECK(bernoulli_kl(0.5, 0.25) == Approx(0.5 * std::log(2.0) + 0.5 * std::log(2.0 / 3)));
  CHECK(std::isinf(bernoulli_kl(0.5, 0)));
}

TEST_CASE("sums of exponentials and powers") {
  CHECK(*log_sum_exp(Values{0, 0}) == Approx(std::log(2.0)));
  CHECK(*log_sum_exp(Values{1000, 1000}) == Approx(1000 + std::log(2.0)));
  CHECK(!log_sum_exp(Values{}));
  CHECK(geometric_sum(0.5, 3) == 1.75);
  CHECK(geometric_sum(1, 1000) == 1000);
  CHECK(geometric_sum(2, 10) == 1023);
  CHECK(geometric_sum(-1, 5) == 1);
  CHECK(geometric_sum(0, 4) == 1);
  CHECK(geometric_sum(7, 0) == 0);
  // By the plain loop, where cancellation in (1 − rⁿ)/(1 − r) would cost eight digits.
  const double r = 1 - 1e-9;
  double plain = 0, power = 1;
  for (int k = 0; k < 1000; ++k, power *= r) plain += power;
  CHECK(geometric_sum(r, 1000) == Approx(plain).epsilon(1e-13));
}

//   0        5
//  1 2       |
//  |  3 4    6
TEST_CASE("a forest is walked from the deepest node up") {
  const Nodes parents{-1, 0, 0, 2, 2, -1, 5};
  Nodes depths(7), order(7);
  REQUIRE(walk_up(parents, depths, order));
  CHECK(depths == Nodes{0, 1, 1, 2, 2, 0, 1});
  CHECK(order == Nodes{3, 4, 1, 2, 6, 0, 5});
  CHECK(walk_up(Nodes{2, -1, 1}, std::span(depths).first(3), std::span(order).first(3)));   // a child before its parent
  CHECK(!walk_up(Nodes{1, 0}, std::span(depths).first(2), std::span(order).first(2)));      // a circle
  CHECK(!walk_up(Nodes{0}, std::span(depths).first(1), std::span(order).first(1)));
  CHECK(!walk_up(Nodes{3, -1}, std::span(depths).first(2), std::span(order).first(2)));     // no such parent
  CHECK(walk_up(Nodes{}, std::span(depths).first(0), std::span(order).first(0)));
}
