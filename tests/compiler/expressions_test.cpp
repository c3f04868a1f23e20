// Expressions as text, through the checker and every engine. Values follow by hand from docs/language.md; where a
// formula stands behind one, the comment says how.
#include <catch2/catch.hpp>

#include <cmath>
#include <optional>
#include <string>

#include "lang/diagnostics.h"
#include "tests/compiler/harness.h"

using namespace allot::compiler;
using namespace allot::compiler::test;

namespace {

struct Seen {
  Cell value;
  FaultKind fault = FaultKind::None;
};

// What all engines make of it; they must agree.
Seen evaluated(const std::string& text) {
  auto source = std::make_shared<const allot::lang::Source>("<expression>", text);
  allot::lang::Diagnostics diagnostics;
  const std::optional<Program> program = allot::lang::check_expression(source, diagnostics);
  INFO(text << "\n" << allot::lang::render_all(diagnostics, *source));
  REQUIRE(program);
  Seen seen;
  seen.value = value_of(*evaluate(*program), *program, &seen.fault);
  for (const Optimize level : {Optimize::None, Optimize::Full}) {
    auto native = compile(*program, level);
    REQUIRE(native);
    FaultKind fault = FaultKind::None;
    const Cell value = value_of(**native, *program, &fault);
    CHECK(fault == seen.fault);
    if (seen.fault == FaultKind::None) CHECK(value == seen.value);
  }
  return seen;
}

double real(const std::string& text) {
  const Seen seen = evaluated(text);
  INFO(text);
  CHECK(seen.fault == FaultKind::None);
  CHECK(seen.value.defined == 1);
  return seen.value.real();
}
std::int64_t integer(const std::string& text) {
  const Seen seen = evaluated(text);
  INFO(text);
  CHECK(seen.fault == FaultKind::None);
  CHECK(seen.value.defined == 1);
  return seen.value.integer();
}
bool undefined(const std::string& text) {
  const Seen seen = evaluated(text);
  return seen.fault == FaultKind::None && seen.value.defined == 0;
}
FaultKind fault(const std::string& text) { return evaluated(text).fault; }

}  // namespace

TEST_CASE("elements are read by position") {
  CHECK(integer("[5, 7, 9][1]") == 7);
  CHECK(real("[[1, 2, 3], [4, 5, 6.5]][1, 2]") == 6.5);
  CHECK(undefined("[1, undefined][1]"));
  CHECK(fault("[5, 7][size([0]) + 1]") == FaultKind::IndexOutOfRange);
  CHECK(fault("[5, 7][0 - size([0])]") == FaultKind::IndexOutOfRange);
  CHECK(fault("[[1, 2], [3, 4]][0, size([0, 0])]") == FaultKind::IndexOutOfRange);
  CHECK(fault("[[1, 2], [3, 4]][size([0, 0]), 0]") == FaultKind::IndexOutOfRange);
}

TEST_CASE("vectors and matrices combine element by element") {
  CHECK(integer("([1, 2] + [10, 20])[1]") == 22);
  CHECK(real("([1, 2] * [0.5, 4])[1]") == 8);
  CHECK(real("(2 * [1.5, 2])[0]") == 3);
  CHECK(real("([[1, 2], [3, 4]] + [[0.5, 0], [0, 0.25]])[1, 1]") == 4.25);
  CHECK(real("([[1, 2], [3, 4]] * 0.5)[1, 0]") == 1.5);
  CHECK(integer("size([[1, 2], [3, 4]])") == 4);
  CHECK(integer("sum([[1, 2], [3, 4]])") == 10);
  CHECK(integer("sum(x * x for x in [[1, 2], [3, 4]])") == 30);
  CHECK(undefined("([1, undefined] + [1, 2])[1]"));
  CHECK(integer("count([3, 1, 2] > [1, 1, 1])") == 2);
  CHECK(integer("(-[1, 2])[1]") == -2);
  CHECK(real("max([1, -2, 3], 0)[1]") == 0);
  // Lists whose lengths are known in a run only: by hand, 3 - 1 = 2 elements are not 3.
  CHECK(fault("([x for x in [1, 2, 3] where x > 1] + [1, 2, 3])[0]") == FaultKind::Domain);
  CHECK(integer("([x for x in [1, 2, 3] where x > 1] + [10, 20])[1]") == 23);
}

TEST_CASE("products") {
  CHECK(real("dot([1, 2, 3], [4, 5, 6])") == 32);
  CHECK(real("dot([1, undefined, 3], [4, 5, 6])") == 22);
  CHECK(real("outer([1, 2], [3, 4, 5])[1, 2]") == 10);
  CHECK(real("([[1, 2], [3, 4]] * [5, 6])[1]") == 39);
  CHECK(real("([[1, 2], [3, 4]] * [[0, 1], [1, 0]])[0, 0]") == 2);
  CHECK(real("matmul([[1, 2, 3]], [[1], [2], [3]])[0, 0]") == 14);
  CHECK(real("transpose([[1, 2, 3], [4, 5, 6]])[2, 1]") == 6);
  CHECK(fault("([[1, 2], [3, 4]] * [x for x in [1, 2, 3] where x > 0])[0]") == FaultKind::Domain);
}

// 1-based places of (3, 1, 3, 2): 1 is first, 2 second, the two 3s share (3 + 4) / 2.
TEST_CASE("order statistics") {
  CHECK(real("rank([3, 1, 3, 2])[0]") == 3.5);
  CHECK(real("rank([3, undefined, 1])[0]") == 2);
  CHECK(undefined("rank([3, undefined, 1])[1]"));
  CHECK(real("median([4, 1, undefined, 3, 2])") == 2.5);
  CHECK(real("quantile([10, 20, 30], 0.25)") == 15);
  CHECK(real("quantile([10, 20, 30], 1)") == 30);
  CHECK(undefined("median([x for x in [1, 2] where x > 5])"));
  CHECK(fault("quantile([1, 2], 0 - size([1]))") == FaultKind::Domain);
  CHECK(integer("argsort([2, 3, 2, 1], descending: true)[1]") == 0);
  CHECK(integer("argsort([2, 3, 2, 1])[1]") == 0);
  // (1, 3): mean 2, std 1 with ddof 0.
  CHECK(real("normalized([1, 3], 0, 0)[1]") == 1);
  CHECK(real("normalized([1, 3], 0, 1)[1]") == 0.5);
  CHECK(real("normalized([2, 2, 2], 1, 0)[1]") == 0);
  CHECK(undefined("normalized([1, undefined, 3], 0, 0)[1]"));
}

TEST_CASE("running sums") {
  CHECK(real("prefix_sum([1, 2, undefined, 4])[3]") == 7);
  CHECK(undefined("prefix_sum([1, 2, undefined, 4])[2]"));
  CHECK(real("discounted([1, 2, 4], 0.5)[0]") == 3);         // 1 + (2 + 4/2)/2
  CHECK(real("discounted([1, undefined, 4], 0.5)[0]") == 2);   // 1 + (0 + 4/2)/2
  CHECK(real("discounted_by([1, 2, 4, 8], [0, 1, 0, 1], 0.5)[0]") == 3);
  CHECK(real("discounted_by([1, 2, 4, 8], [0, 1, 0, 1], 0.5)[1]") == 6);
  CHECK(undefined("discounted_by([1, 2], [undefined, 0], 0.5)[0]"));
  CHECK(real("pick([5, 7, 9], [2, 0])[0]") == 9);
  CHECK(undefined("pick([5, 7, 9], [-1, 0])[0]"));
  CHECK(fault("pick([5, 7, 9], [3])[0]") == FaultKind::IndexOutOfRange);
}

TEST_CASE("classes") {
  CHECK(real("sum_by([1, 2, 4], [7, 9, 7])[2]") == 5);
  CHECK(real("mean_by([1, 2, 4], [7, 9, 7])[0]") == 2.5);
  CHECK(real("mean_by([1, 2, undefined], [7, 9, 7])[2]") == 1);
  CHECK(undefined("mean_by([1, 2], [7, undefined])[1]"));
  CHECK(real("std_by([1, 5, 3], [0, 1, 0], 0)[0]") == 1);
  CHECK(real("std_by([1, 5, 3], [0, 1, 0], 1)[1]") == 0);
  CHECK(integer("count_by([7, 9, 7, undefined])[0]") == 2);
  CHECK(undefined("count_by([7, 9, 7, undefined])[3]"));
  CHECK(integer("distinct([7, 9, 7, undefined])") == 2);
}

//   0          leaves 1, 3 and 4 with values 1, 0 and 1
//  1 2
//   3 4
TEST_CASE("trees") {
  const std::string tree = "[undefined, 1, undefined, 0, 1], [-1, 0, 0, 2, 2]";
  CHECK(real("tree_sum(" + tree + ")[0]") == 2);
  CHECK(integer("tree_count(" + tree + ")[2]") == 2);
  CHECK(real("tree_mean(" + tree + ")[0]") == 2.0 / 3);
  CHECK(real("tree_mean_of_means(" + tree + ")[0]") == 0.75);   // (1 + (0 + 1)/2) / 2
  CHECK(real("tree_max(" + tree + ")[2]") == 1);
  CHECK(integer("tree_depth([-1, 0, 0, 2, 2])[4]") == 2);
  CHECK(integer("tree_children([-1, 0, 0, 2, 2])[2]") == 2);
  CHECK(undefined("tree_mean([undefined, 1], [-1, -1])[0]"));
  CHECK(fault("tree_depth([1, 0])[0]") == FaultKind::Domain);
  CHECK(fault("tree_depth([5])[0]") == FaultKind::Domain);
}

// Eigenvalues of [[2, 1], [1, 2]] are 3 and 1; the leading space is that of (1, 1).
TEST_CASE("spectra") {
  const std::string m = "[[2, 1], [1, 2]]";
  CHECK(real("eigenvalues(" + m + ")[0]") == Approx(3));
  CHECK(real("eigengap(" + m + ", 1) ?? 0") == Approx(2));
  CHECK(undefined("eigengap(" + m + ", 2)"));
  CHECK(real("eigenvectors(" + m + ")[1, 1]") == Approx(-std::sqrt(0.5)));
  CHECK(real("diagonal(" + m + ")[1]") == 2);
  CHECK(real("ridge(" + m + ", 0.5)[0, 0]") == 2.5);
  CHECK(real("ridge(" + m + ", 0.5)[0, 1]") == 1);
  CHECK(real("gram([[1, 2], [3, 4]])[0, 1]") == 11);
  CHECK(real("cosine_gram([[3, 4], [3, 4]])[0, 1]") == Approx(1));
  CHECK(real("log_det([[4, 2], [2, 3]]) ?? 0") == Approx(std::log(8.0)));
  CHECK(undefined("log_det([[1, 2], [2, 1]])"));
  CHECK(real("effective_count([[1, 1], [1, 1]], [1, 1])") == 2);
  CHECK(integer("elementwise([[1, 2], [3, 4]], [[5, 6], [7, 8]])[1, 0]") == 21);
  CHECK(fault("eigenvalues([[1, 2], [3, 4]])[0]") == FaultKind::Domain);
  CHECK(evaluated("top_eigenspace([[0, 0], [0, 0]], 1) is undefined").value.truth());
  CHECK(evaluated("top_eigenspace([[1, 0], [0, 1]], 1) is undefined").value.truth());
  CHECK(!evaluated("top_eigenspace([[1, 0], [0, 1]], 2) is undefined").value.truth());
  CHECK(evaluated("inverse_diagonal([[1, 2], [2, 1]]) is undefined").value.truth());
}

TEST_CASE("chances and information") {
  CHECK(real("beta(2, 2).sd") == Approx(std::sqrt(0.05)));   // variance ab / ((a+b)² (a+b+1)) = 4 / 80
  CHECK(real("beta_cdf(beta(1, 1), 0.25)") == Approx(0.25));
  CHECK(real("binomial_pmf(2 rollouts, 4 rollouts, 0.5)") == Approx(0.375));
  CHECK(real("bernoulli_entropy(0.5)") == Approx(std::log(2.0)));
  CHECK(real("weights_entropy([1, 1]) ?? 0") == Approx(std::log(2.0)));
  CHECK(undefined("weights_entropy([0, 0])"));
  CHECK(real("softmax([0, 0])[1]") == Approx(0.5));
  // Three equal ones are thirds, however large; and what cannot be told is a fault, never a wrong number.
  for (const std::string x : {"0", "1000", "1e9", "1e16", "-1e300"}) CHECK(real("softmax([" + x + ", " + x + ", " + x + "])[1]") == 1.0 / 3);
  CHECK(fault("weights_entropy([1e308, 1e308]) ?? 0") == FaultKind::NotFinite);
  CHECK(fault("normalized([1e200, -1e200], 0)[0]") == FaultKind::NotFinite);
  CHECK(fault("max_variance([1e200, -1e200, 0], 2)[0]") == FaultKind::NotFinite);
  CHECK(real("beta(1e308, 1e308).mean") == 0.5);
  CHECK(real("sprt_ratio(0.25, 0.5, 3 rollouts, 0 rollouts)") == Approx(3 * std::log(2.0)));
  CHECK(real("sprt_upper(0.25, 0.25)") == Approx(std::log(3.0)));
  CHECK(real("sprt_lower(0.25, 0.25)") == Approx(-std::log(3.0)));
  CHECK(real("geometric_sum(0.5, 3)") == 1.75);
  CHECK(fault("bernoulli_kl(0.5, size([0]) - 1)") == FaultKind::NotFinite);
}

TEST_CASE("a value within its range") {
  CHECK(integer("within(3, 1, 4)") == 3);
  CHECK(fault("within(size([1, 2]), 3, 4)") == FaultKind::Domain);
  CHECK(fault("within(0.5 * size([1]), 1, 2)") == FaultKind::Domain);
}

TEST_CASE("a long list: a table of constants is copied, one that is computed is the evaluator's") {
  const auto list = [](int count, const std::string& element) {
    std::string text;
    for (int i = 1; i <= count; ++i) text += (i > 1 ? ", " : "") + element + std::to_string(i);
    return "[" + text + "]";
  };
  for (const int count : {15, 16, 17, 4000}) {  // the sum of 1 .. n is n (n + 1) / 2
    CHECK(integer("sum(" + list(count, "") + ")") == count * (count + 1) / 2);
    if (count < 100) CHECK(real("sum(" + list(count, "0.5 + ") + ")") == count * (count + 2) / 2.0);
    CHECK(integer(list(count, "-") + "[" + std::to_string(count - 1) + "]") == -count);
  }
  CHECK(real("sum([undefined, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15.5]) ?? 0.0") == 120.5);
  const auto source = std::make_shared<const allot::lang::Source>("<expression>", "sum(" + list(1025, "0.5 + ") + ")");
  allot::lang::Diagnostics diagnostics;
  const auto program = allot::lang::check_expression(source, diagnostics);
  INFO(allot::lang::render_all(diagnostics, *source));
  REQUIRE(program);
  const auto native = compile(*program, Optimize::None);
  REQUIRE_FALSE(native);
  CHECK(native.error().what.find("too large for machine code") != std::string::npos);
}
