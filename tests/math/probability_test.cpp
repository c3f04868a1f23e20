#include "runtime/math/probability.h"

#include <catch2/catch.hpp>

using namespace allot::math;

TEST_CASE("flat, mixed and any agree with counting over all outcomes") {
  for (const double p : {0.0, 0.02, 0.3, 0.5, 1.0}) {
    for (const int size : {1, 2, 3, 5}) {
      double flat = 0;
      double any = 0;
      for (int outcome = 0; outcome < (1 << size); ++outcome) {
        double chance = 1;
        for (int i = 0; i < size; ++i) chance *= (outcome >> i & 1) != 0 ? p : 1 - p;
        if (outcome == 0 || outcome == (1 << size) - 1) flat += chance;
        if (outcome != 0) any += chance;
      }
      CAPTURE(p, size);
      CHECK(flat_prob(p, size) == Approx(flat).margin(1e-15));
      CHECK(mixed_prob(p, size) == Approx(1 - flat).margin(1e-15));
      CHECK(any_prob(p, size) == Approx(any).margin(1e-15));
    }
  }
}

TEST_CASE("pass at k counts the draws that hold a hit") {
  CHECK(pass_at_k(4, 1, 1) == Approx(0.25));           // one of four
  CHECK(pass_at_k(4, 2, 2) == Approx(1 - 1.0 / 6.0));  // C(2,2)/C(4,2) draws miss
  CHECK(pass_at_k(4, 0, 4) == 0.0);
  CHECK(pass_at_k(4, 1, 4) == 1.0);
}

// allocation.md §6: for one hit rate abandoning early never pays.
TEST_CASE("abandoning early yields less for every single hit rate") {
  for (const int size : {4, 8, 16}) {
    for (int probe = 2; probe < size; ++probe) {
      for (int i = 1; i < 20; ++i) {
        const double p = i / 20.0;
        const Abandonment rule = abandonment(flat_prob(p, probe), flat_prob(p, size), probe, size);
        CHECK(rule.yield < rule.yield_uniform);
      }
    }
  }
}
