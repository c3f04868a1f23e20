#include "lang/builtins.h"

#include <array>
#include <limits>

namespace allot::lang {
namespace {

constexpr int rollouts = static_cast<int>(BaseUnit::Rollouts);

// ---- argument lists, shared by functions of one shape

constexpr std::array number_argument{Argument{"x", ArgumentKind::Number}};
constexpr std::array two_numbers{Argument{"a", ArgumentKind::Number}, Argument{"b", ArgumentKind::Number}};
constexpr std::array clamp_arguments{Argument{"x", ArgumentKind::Number}, Argument{"low", ArgumentKind::Number},
                                     Argument{"high", ArgumentKind::Number}};
constexpr std::array real_argument{Argument{"x", ArgumentKind::Real}};
constexpr std::array pow_arguments{Argument{"base", ArgumentKind::Real}, Argument{"exponent", ArgumentKind::Real}};
constexpr std::array spread_arguments{Argument{"v", ArgumentKind::RealVector}, Argument{"ddof", ArgumentKind::Int}};
constexpr std::array choose_arguments{Argument{"v", ArgumentKind::RealVector},
                                      Argument{"m", ArgumentKind::Int, false, 0, rollouts}};
constexpr std::array real_vector{Argument{"v", ArgumentKind::RealVector}};
constexpr std::array two_vectors{Argument{"a", ArgumentKind::RealVector}, Argument{"b", ArgumentKind::RealVector}};
constexpr std::array outer_arguments{Argument{"a", ArgumentKind::RealVector, false, 0, -1, true},
                                     Argument{"b", ArgumentKind::RealVector, false, 0, -1, true}};
constexpr std::array matrix_argument{Argument{"m", ArgumentKind::Matrix}};
constexpr std::array product_arguments{Argument{"m", ArgumentKind::Matrix}, Argument{"x", ArgumentKind::Reals}};
constexpr std::array any_vector{Argument{"v", ArgumentKind::AnyVector}};
constexpr int plain_or_rollouts = -2;  // counts of hits, or numbers that were never counted
constexpr std::array beta_arguments{Argument{"a", ArgumentKind::Real, false, 0, plain_or_rollouts},
                                    Argument{"b", ArgumentKind::Real, false, 0, plain_or_rollouts}};
constexpr std::array belief_argument{Argument{"belief", ArgumentKind::Beta}};
constexpr std::array observe_arguments{Argument{"belief", ArgumentKind::Beta},
                                       Argument{"hits", ArgumentKind::Real, false, 0, rollouts},
                                       Argument{"misses", ArgumentKind::Real, false, 0, rollouts}};
constexpr std::array mixed_arguments{
    Argument{"belief", ArgumentKind::Beta}, Argument{"hits", ArgumentKind::Int, false, 0, rollouts},
    Argument{"misses", ArgumentKind::Int, false, 0, rollouts}, Argument{"size", ArgumentKind::Int, false, 0, rollouts}};
constexpr std::array belief_count{Argument{"belief", ArgumentKind::Beta},
                                  Argument{"n", ArgumentKind::Int, false, 0, rollouts}};
constexpr std::array rate_count{Argument{"p", ArgumentKind::Real},
                                Argument{"n", ArgumentKind::Int, false, 0, rollouts}};

// ---- the table, in order of subject. "Domain fault" means FaultKind::Domain.

constexpr std::array table{
    // numbers
    Builtin{"abs", number_argument, ResultKind::Number, false,
            "The size of x without its sign. Overflow fault for the smallest int."},
    Builtin{"min", two_numbers, ResultKind::Number, false,
            "The smaller of a and b. `min(v)` of one vector is the smallest defined element, undefined of none."},
    Builtin{"max", two_numbers, ResultKind::Number, false,
            "The larger of a and b. `max(v)` of one vector is the largest defined element, undefined of none."},
    Builtin{"clamp", clamp_arguments, ResultKind::Number, false,
            "x, moved into low..high. Domain fault where low > high."},
    Builtin{"floor", real_argument, ResultKind::Int, false,
            "The largest int not above x, in the unit of x. Overflow fault beyond 64 bits.", 1},
    Builtin{"ceil", real_argument, ResultKind::Int, false,
            "The smallest int not below x, in the unit of x. Overflow fault beyond 64 bits.", 1},
    Builtin{"round_even", real_argument, ResultKind::Int, false,
            "The int nearest to x, halves to the even one, in the unit of x. Overflow fault beyond 64 bits.", 1},
    Builtin{"sqrt", real_argument, ResultKind::Real, false, "The square root of x. Domain fault for x < 0.", 0,
            Curve{0, Bend::Concave, true, 0}},
    Builtin{"exp", real_argument, ResultKind::Real, false, "e to the x. Not-finite fault where it overflows.", 0,
            Curve{0, Bend::Convex, true, -std::numeric_limits<double>::infinity()}},
    Builtin{"log", real_argument, ResultKind::Real, false, "The natural logarithm of x. Domain fault for x <= 0.", 0,
            Curve{0, Bend::Concave, true, 0}},
    Builtin{
        "pow", pow_arguments, ResultKind::Real, false,
        "base to the exponent. Domain fault for a negative base with a broken exponent and for 0 to a negative one; "
        "not-finite fault where it overflows."},
    Builtin{"tanh", real_argument, ResultKind::Real, false, "The hyperbolic tangent of x, in -1..1."},
    // vectors; undefined elements are left out
    Builtin{"variance", spread_arguments, ResultKind::Real, true,
            "Sum of squared distances from the mean over n - ddof, of the n defined elements. ddof is 0 or 1, else a "
            "domain fault. 0 for one element with either; undefined of none.",
            2},
    Builtin{"std", spread_arguments, ResultKind::Real, true,
            "The square root of variance(v, ddof). 0 for one element; undefined of none.", 1},
    Builtin{
        "max_variance", choose_arguments, ResultKind::IntVector, false,
        "Positions, ascending, of the m defined elements whose variance is largest; all defined ones where there are "
        "no more than m. Such a set is always the k smallest and m - k largest; of equal sets the one with the most "
        "of the smallest; equal elements go by lower position. Domain fault for m < 0. Xu et al., PODS, "
        "arXiv:2504.13818."},
    Builtin{"top", choose_arguments, ResultKind::IntVector, false,
            "Positions, in descending order of value, of the m largest defined elements (all where there are fewer); "
            "ties go to the lower position. Domain fault for m < 0."},
    Builtin{"bottom", choose_arguments, ResultKind::IntVector, false,
            "Positions, in ascending order of value, of the m smallest defined elements (all where there are fewer); "
            "ties go to the lower position. Domain fault for m < 0."},
    Builtin{"argsort", real_vector, ResultKind::IntVector, false,
            "Positions of the defined elements in ascending order of value; ties go to the lower position."},
    Builtin{"size", any_vector, ResultKind::Int, false, "The number of elements, undefined ones included. 0 or more."},
    // matrices; sums over a row run from its first element to its last
    Builtin{"dot", two_vectors, ResultKind::Real, false,
            "The sum of a[i] b[i] over the positions where both are defined, in order; 0 of none. Domain fault for "
            "lists of unequal length."},
    Builtin{"outer", outer_arguments, ResultKind::Outer, false, "The matrix of all a[i] b[j]."},
    Builtin{"matmul", product_arguments, ResultKind::Product, false,
            "The product of a matrix with a vector or a matrix, also written m * x. Domain fault where the columns of "
            "m are not as many as the rows of x."},
    Builtin{"transpose", matrix_argument, ResultKind::Transposed, false, "Rows become columns."},
    // beliefs about a hit rate
    Builtin{"beta", beta_arguments, ResultKind::Beta, false,
            "A Beta distribution. Domain fault unless a > 0 and b > 0."},
    Builtin{
        "observe", observe_arguments, ResultKind::Beta, false,
        "The belief after so many more hits and misses: beta(a + hits, b + misses). Counts may be fractions. Domain "
        "fault for a negative count."},
    Builtin{"beta_mean", belief_argument, ResultKind::Prob, false,
            "The expected hit rate, a / (a + b). Also written belief.mean."},
    Builtin{"beta_variance", belief_argument, ResultKind::Real, false,
            "The variance of the hit rate, ab / ((a + b)^2 (a + b + 1)), in 0..1/4. Also written belief.variance."},
    Builtin{"beta_learnability", belief_argument, ResultKind::Real, false,
            "The expected variance of a 0/1 reward, E[p (1 - p)] = ab / ((a + b)(a + b + 1)), in 0..1/4. Also "
            "written belief.learnability."},
    Builtin{
        "prob_mixed", mixed_arguments, ResultKind::Prob, false,
        "The chance that a group of `size` ends with both a hit and a miss, given the hits and misses so far; belief "
        "is the prior before them. 1 once both are present, 0 when the group is full without. Domain fault for a "
        "negative count. SARA, arXiv:2607.26253."},
    Builtin{
        "hit_utility", belief_count, ResultKind::Prob, false,
        "The chance of at least one hit in n more rollouts, 1 - (b)_n / (a + b)_n with rising factorials; 0 for n = "
        "0. Concave in n >= 0. Domain fault for n < 0. HORA, arXiv:2605.07114.",
        0, Curve{1, Bend::Concave, true, 0}},
    Builtin{"flat_prob", rate_count, ResultKind::Prob, false,
            "The chance that n rollouts all hit or all miss at hit rate p: p^n + (1 - p)^n; 1 for n < 2. Convex in "
            "n >= 1. Domain fault for p outside 0..1 or n < 0.",
            0, Curve{1, Bend::Convex, false, 1}},
    Builtin{"any_prob", rate_count, ResultKind::Prob, false,
            "The chance that at least one of n rollouts hits at hit rate p: 1 - (1 - p)^n; 0 for n = 0. Concave in n >= "
            "0. Domain fault for p outside 0..1 or n < 0.",
            0, Curve{1, Bend::Concave, true, 0}},
};

}  // namespace

std::span<const Builtin> builtins() {
  return table;
}

int find_builtin(std::string_view name) {
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace allot::lang
