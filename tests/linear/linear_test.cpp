// Linear algebra against small matrices whose answers follow by hand, and against its own definitions on random ones.
#include <catch2/catch.hpp>

#include <array>
#include <cmath>
#include <vector>

#include "runtime/linear/cholesky.h"
#include "runtime/linear/gram.h"
#include "runtime/linear/symmetric.h"
#include "runtime/math/random.h"

using namespace allot;
using Values = std::vector<double>;

namespace {

linear::Input input(const Values& values, std::size_t rows) { return {values, rows, values.size() / rows}; }
linear::Output output(Values& values, std::size_t rows) { return {values, rows, values.size() / rows}; }

Values random_matrix(std::size_t rows, std::size_t columns, std::uint64_t seed) {
  Values values(rows * columns);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = (static_cast<double>(math::below(2001, 5, seed, i)) - 1000) / 500;
  }
  return values;
}

}  // namespace

// Rows (1, 2), (2, 4), (0, 0): products by hand; the first two are parallel, the last is zero.
TEST_CASE("gram and cosines") {
  const Values rows{1, 2, 2, 4, 0, 0};
  Values out(9);
  linear::gram(input(rows, 3), output(out, 3));
  CHECK(out == Values{5, 10, 0, 10, 20, 0, 0, 0, 0});
  linear::cosine_gram(input(rows, 3), output(out, 3));
  CHECK(out[1] == Approx(1).margin(1e-15));
  CHECK(out[0] == 1);
  CHECK(out[8] == 0);
  CHECK(out[2] == 0);
}

// diag(3, 1): (3 + 1)² / (9 + 1). The identity spreads over all n, a matrix of ones over one direction.
TEST_CASE("participation ratio and effective count") {
  CHECK(linear::participation_ratio(input({3, 0, 0, 1}, 2)) == Approx(1.6).margin(1e-15));
  CHECK(linear::participation_ratio(input({1, 0, 0, 1}, 2)) == 2);
  CHECK(linear::participation_ratio(input({1, 1, 1, 1}, 2)) == 1);
  CHECK(linear::participation_ratio(input({0, 0, 0, 0}, 2)) == 0);
  const Values same{1, 1, 1, 1};
  CHECK(linear::effective_count(input(same, 2), Values{1, 1}) == 2);
  CHECK(linear::effective_count(input(same, 2), Values{1, -1}) == 0);
  CHECK(linear::effective_count(input({1, 0, 0, 1}, 2), Values{1, -1}) == 1);
  CHECK(linear::effective_count(input(same, 2), Values{0, 0}) == 0);
}

// [[2, 1], [1, 2]] has eigenvalues 3 and 1 with eigenvectors (1, 1)/√2 and (1, −1)/√2.
TEST_CASE("eigenvalues descend and eigenvectors have one sign") {
  const Values m{2, 1, 1, 2};
  Values values(2), vectors(4), projection(4);
  REQUIRE(linear::eigen(input(m, 2), values, output(vectors, 2)) == linear::Solved::Yes);
  CHECK(values[0] == Approx(3));
  CHECK(values[1] == Approx(1));
  CHECK(vectors[0] == Approx(std::sqrt(0.5)));
  CHECK(vectors[2] == Approx(std::sqrt(0.5)));
  linear::projector(output(vectors, 2), 1, output(projection, 2));
  for (const double element : projection) CHECK(element == Approx(0.5));
  CHECK(linear::symmetric(input(m, 2)));
  CHECK(!linear::symmetric(input({2, 1, 0, 2}, 2)));
  CHECK(!linear::symmetric(input({2, 1, 0, 2}, 1)));
}

// m v = λ v, orthonormal columns, a projector that is its own square, the element of largest size positive.
TEST_CASE("random symmetric matrices are taken apart and put together") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const std::size_t n = 1 + seed % 7;
    const Values rows = random_matrix(n, 3, seed);
    Values m(n * n), values(n), vectors(n * n), projection(n * n);
    linear::gram(input(rows, n), output(m, n));
    REQUIRE(linear::eigen(input(m, n), values, output(vectors, n)) == linear::Solved::Yes);
    linear::projector(output(vectors, n), n, output(projection, n));
    for (std::size_t i = 0; i < n; ++i) {
      double largest = 0;
      for (std::size_t k = 0; k < n; ++k) {
        if (k > 0 && i == 0) CHECK(values[k - 1] >= values[k]);
        double back = 0;
        for (std::size_t j = 0; j < n; ++j) back += m[i * n + j] * vectors[j * n + k];
        CHECK(back == Approx(values[k] * vectors[i * n + k]).margin(1e-9));
        CHECK(projection[i * n + k] == Approx(i == k ? 1 : 0).margin(1e-12));
        if (std::fabs(vectors[k * n + i]) > std::fabs(largest)) largest = vectors[k * n + i];
      }
      CHECK(largest > 0);
    }
  }
}

// det [[4, 2], [2, 3]] = 8, and its inverse has 3/8 and 4/8 on the diagonal.
TEST_CASE("cholesky") {
  Values factor(4), column(2), diagonal(2);
  REQUIRE(linear::cholesky(input({4, 2, 2, 3}, 2), output(factor, 2)));
  CHECK(factor == Values{2, 0, 1, std::sqrt(2.0)});
  CHECK(linear::log_determinant(output(factor, 2)) == Approx(std::log(8.0)));
  linear::inverse_diagonal(output(factor, 2), column, diagonal);
  CHECK(diagonal[0] == Approx(3.0 / 8));
  CHECK(diagonal[1] == Approx(0.5));
  CHECK(!linear::cholesky(input({1, 2, 2, 1}, 2), output(factor, 2)));
  CHECK(!linear::cholesky(input({0, 0, 0, 0}, 2), output(factor, 2)));
}

// [[2, 1], [1, 2]]: alone each row gives ln 2, last it adds ln 3 − ln 2; by symmetry each has ln 3 / 2.
TEST_CASE("shares of a log-determinant") {
  Values room(8 + 9), shares(2);
  REQUIRE(linear::log_determinant_shares(input({2, 1, 1, 2}, 2), room, shares));
  CHECK(shares[0] == Approx(std::log(3.0) / 2));
  CHECK(shares[1] == Approx(std::log(3.0) / 2));
  // Shares add up to the whole, whatever the matrix.
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const std::size_t n = 5;
    Values m(n * n), factor(n * n), all(n), space((1 << n) + n * n);
    linear::gram(input(random_matrix(n, 4, seed), n), output(m, n));
    for (std::size_t i = 0; i < n; ++i) m[i * n + i] += 1;
    REQUIRE(linear::cholesky(input(m, n), output(factor, n)));
    REQUIRE(linear::log_determinant_shares(input(m, n), space, all));
    double sum = 0;
    for (const double share : all) sum += share;
    CHECK(sum == Approx(linear::log_determinant(output(factor, n))).margin(1e-10));
  }
}
