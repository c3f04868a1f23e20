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
constexpr Argument ties{"ties", ArgumentKind::Real, true, -1};
constexpr std::array first_arguments{Argument{"v", ArgumentKind::RealVector},
                                     Argument{"m", ArgumentKind::Int, false, 0, rollouts}, ties};
constexpr std::array real_vector{Argument{"v", ArgumentKind::RealVector}};
constexpr std::array two_vectors{Argument{"a", ArgumentKind::RealVector}, Argument{"b", ArgumentKind::RealVector}};
constexpr std::array outer_arguments{Argument{"a", ArgumentKind::RealVector, false, 0, -1, true},
                                     Argument{"b", ArgumentKind::RealVector, false, 0, -1, true}};
constexpr std::array matrix_argument{Argument{"m", ArgumentKind::Matrix}};
constexpr std::array product_arguments{Argument{"m", ArgumentKind::Matrix}, Argument{"x", ArgumentKind::Reals}};
constexpr std::array argsort_arguments{Argument{"v", ArgumentKind::RealVector},
                                       Argument{"descending", ArgumentKind::Bool, true}, ties};
constexpr std::array place_arguments{Argument{"first", ArgumentKind::Int}, Argument{"count", ArgumentKind::Int}};
constexpr std::array share_arguments{Argument{"v", ArgumentKind::RealVector}, Argument{"q", ArgumentKind::Real}};
constexpr std::array normalized_arguments{Argument{"v", ArgumentKind::RealVector}, Argument{"ddof", ArgumentKind::Int, true, 1},
                                          Argument{"eps", ArgumentKind::Real, true}};
constexpr std::array discount_arguments{Argument{"v", ArgumentKind::RealVector}, Argument{"gamma", ArgumentKind::Real}};
constexpr std::array discount_by_arguments{Argument{"v", ArgumentKind::RealVector},
                                           Argument{"by", ArgumentKind::IntVector},
                                           Argument{"gamma", ArgumentKind::Real}};
constexpr std::array pick_arguments{Argument{"v", ArgumentKind::RealVector}, Argument{"at", ArgumentKind::IntVector}};
constexpr std::array by_arguments{Argument{"v", ArgumentKind::RealVector}, Argument{"by", ArgumentKind::IntVector}};
constexpr std::array std_by_arguments{Argument{"v", ArgumentKind::RealVector}, Argument{"by", ArgumentKind::IntVector},
                                      Argument{"ddof", ArgumentKind::Int}};
constexpr std::array by_argument{Argument{"by", ArgumentKind::IntVector}};
constexpr std::array tree_arguments{Argument{"v", ArgumentKind::RealVector}, Argument{"parents", ArgumentKind::IntVector}};
constexpr std::array parents_argument{Argument{"parents", ArgumentKind::IntVector}};
constexpr std::array space_arguments{Argument{"m", ArgumentKind::Matrix}, Argument{"k", ArgumentKind::Int}};
constexpr std::array ridge_arguments{Argument{"m", ArgumentKind::Matrix}, Argument{"x", ArgumentKind::Real}};
constexpr std::array weighted_arguments{Argument{"m", ArgumentKind::Matrix},
                                        Argument{"weights", ArgumentKind::RealVector, false, 0, -1, true}};
constexpr std::array basis_arguments{Argument{"basis", ArgumentKind::Matrix},
                                     Argument{"v", ArgumentKind::RealVector, false, 0, -1, true}};
constexpr std::array belief_real{Argument{"belief", ArgumentKind::Beta}, Argument{"x", ArgumentKind::Real}};
constexpr std::array belief_chance{Argument{"belief", ArgumentKind::Beta}, Argument{"p", ArgumentKind::Real}};
constexpr std::array trial_arguments{Argument{"k", ArgumentKind::Int, false, 0, rollouts},
                                     Argument{"n", ArgumentKind::Int, false, 0, rollouts},
                                     Argument{"p", ArgumentKind::Real}};
constexpr std::array sample_arguments{Argument{"k", ArgumentKind::Int, false, 0, rollouts},
                                      Argument{"hits", ArgumentKind::Int, false, 0, rollouts},
                                      Argument{"n", ArgumentKind::Int, false, 0, rollouts}};
constexpr std::array t_arguments{Argument{"t", ArgumentKind::Real}, Argument{"degrees", ArgumentKind::Real}};
constexpr std::array t_chance{Argument{"p", ArgumentKind::Real}, Argument{"degrees", ArgumentKind::Real}};
constexpr std::array chance_argument{Argument{"p", ArgumentKind::Real}};
constexpr std::array two_chances{Argument{"p", ArgumentKind::Real}, Argument{"q", ArgumentKind::Real}};
constexpr std::array geometric_arguments{Argument{"r", ArgumentKind::Real}, Argument{"n", ArgumentKind::Int}};
constexpr std::array ratio_arguments{Argument{"p0", ArgumentKind::Real}, Argument{"p1", ArgumentKind::Real},
                                     Argument{"hits", ArgumentKind::Real, false, 0, rollouts},
                                     Argument{"misses", ArgumentKind::Real, false, 0, rollouts}};
constexpr std::array error_arguments{Argument{"alpha", ArgumentKind::Real}, Argument{"beta", ArgumentKind::Real}};
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
    Builtin{"within", clamp_arguments, ResultKind::Number, false,
            "x, which must lie in low..high: domain fault where it does not. A value of type `real in 0..4` is met so."},
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
    Builtin{"detach", real_argument, ResultKind::Real, false,
            "x itself. In a loss training does not follow it: its slope is 0."},
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
    Builtin{"top", first_arguments, ResultKind::IntVector, false,
            "Positions, in descending order of value, of the m largest defined elements (all where there are fewer); "
            "ties go to the lower position, or with `ties: seeded \"name\"` by an order that the draw of this name gives. "
            "Domain fault for m < 0."},
    Builtin{"bottom", first_arguments, ResultKind::IntVector, false,
            "Positions, in ascending order of value, of the m smallest defined elements (all where there are fewer); "
            "ties go to the lower position, or with `ties: seeded \"name\"` by an order that the draw of this name gives. "
            "Domain fault for m < 0."},
    Builtin{"argsort", argsort_arguments, ResultKind::IntVector, false,
            "Positions of the defined elements in ascending order of value, in descending order where `descending` is "
            "true; ties go to the lower position either way, or with `ties: seeded \"name\"` by an order that the draw of "
            "this name gives."},
    Builtin{"rank", real_vector, ResultKind::RealsAlong, false,
            "The place of each element in ascending order, from 1; equal elements share the mean of their places. An "
            "undefined element stays so."},
    Builtin{"quantile", share_arguments, ResultKind::Real, true,
            "The value below which a share q of the defined elements lies, linear between the two nearest: position "
            "q (n - 1) of the sorted ones (type 7 of Hyndman & Fan 1996); undefined of none. Domain fault for q outside 0..1.",
            1},
    Builtin{"median", real_vector, ResultKind::Real, true, "quantile(v, 0.5). It is undefined of none.", 1},
    Builtin{"normalized", normalized_arguments, ResultKind::RealsAlong, false,
            "Each element minus the mean, over std(v, ddof) + eps, of the defined ones; 0 everywhere where they are equal. An "
            "undefined element stays so. ddof is 0 or 1, eps 0 or more, else a domain fault."},
    Builtin{"prefix_sum", real_vector, ResultKind::RealsAlong, false,
            "The sum of the elements up to each, itself included, in order. An undefined element adds nothing and stays "
            "undefined.",
            1},
    Builtin{"discounted", discount_arguments, ResultKind::RealsAlong, false,
            "Backwards from the last: each element plus gamma times what its next one came to. An undefined element counts "
            "as 0 in that and stays undefined.",
            1},
    Builtin{"discounted_by", discount_by_arguments, ResultKind::RealsAlong, true,
            "discounted(v, gamma) within each class of `by`: the next one is the next of the same class. It is undefined where "
            "the element or its class is. Domain fault for lists of unequal length.",
            1},
    Builtin{.name = "pick",
            .arguments = pick_arguments,
            .result = ResultKind::Same,
            .result_optional = true,
            .doc = "The element of v at each position of `at`; undefined where it is, and for a position that is negative or "
                   "undefined. Index fault for one beyond the end.",
            .keeps_unit = 1,
            .apart = true},
    Builtin{"softmax", real_vector, ResultKind::RealsAlong, false,
            "e^v over the sum of all e^v, in 0..1; the defined elements add up to 1, an undefined one stays so."},
    Builtin{"log_sum_exp", real_vector, ResultKind::Real, true, "ln of the sum of all e^v. It is undefined of none."},
    // classes: `by` says of each element where it belongs
    Builtin{.name = "sum_by",
            .arguments = by_arguments,
            .result = ResultKind::RealsAlong,
            .result_optional = true,
            .doc = "For each element the sum of the defined elements of its class, in order. It is undefined where its class is. "
                   "Domain fault for lists of unequal length.",
            .keeps_unit = 1},
    Builtin{.name = "mean_by",
            .arguments = by_arguments,
            .result = ResultKind::RealsAlong,
            .result_optional = true,
            .doc = "For each element the mean of the defined elements of its class. It is undefined where its class is, or has "
                   "none. Domain fault for lists of unequal length.",
            .keeps_unit = 1},
    Builtin{.name = "std_by",
            .arguments = std_by_arguments,
            .result = ResultKind::RealsAlong,
            .result_optional = true,
            .doc = "For each element the std with that ddof of the defined elements of its class, 0 of one. It is undefined where "
                   "its class is, or has none. Domain fault for lists of unequal length and for ddof other than 0 and 1.",
            .keeps_unit = 1},
    Builtin{"count_by", by_argument, ResultKind::IntsAlong, false,
            "For each element how many there are of its class, itself included. It is undefined where its class is."},
    Builtin{"distinct", by_argument, ResultKind::Int, false, "How many classes there are, 0 or more."},
    // trees: `parents` gives of each node the position of its parent, a negative one or undefined for a root. Domain fault
    // for a parent that does not exist and for a circle.
    Builtin{.name = "tree_sum",
            .arguments = tree_arguments,
            .result = ResultKind::RealsAlong,
            .result_optional = false,
            .doc = "For each node the sum of the defined elements at and below it; 0 of none. Domain fault for parents that "
                   "are no tree, and for lists of unequal length.",
            .keeps_unit = 1,
            .fills = true},
    Builtin{.name = "tree_count",
            .arguments = tree_arguments,
            .result = ResultKind::IntsAlong,
            .result_optional = false,
            .doc = "For each node how many defined elements there are at and below it. Domain fault for parents that are no "
                   "tree, and for lists of unequal length.",
            .fills = true},
    Builtin{"tree_mean", tree_arguments, ResultKind::RealsAlong, true,
            "For each node the mean of the defined elements at and below it: with values at the leaves alone, the backup "
            "weighted by leaves. It is undefined of none. Domain fault for parents that are no tree, and for lists of unequal "
            "length.",
            1},
    Builtin{"tree_mean_of_means", tree_arguments, ResultKind::RealsAlong, true,
            "For each node with children the mean of what theirs came to, whatever its own element; a leaf has its own. "
            "It is undefined of none. Domain fault for parents that are no tree, and for lists of unequal length.",
            1},
    Builtin{"tree_max", tree_arguments, ResultKind::RealsAlong, true,
            "For each node the largest defined element at and below it. It is undefined of none. Domain fault for parents that "
            "are no tree, and for lists of unequal length.",
            1},
    Builtin{.name = "tree_depth",
            .arguments = parents_argument,
            .result = ResultKind::IntsAlong,
            .result_optional = false,
            .doc = "How far each node is from its root, 0 for a root. Domain fault for parents that are no tree.",
            .fills = true},
    Builtin{.name = "tree_children",
            .arguments = parents_argument,
            .result = ResultKind::IntsAlong,
            .result_optional = false,
            .doc = "How many children each node has, 0 for a leaf. Domain fault for parents that are no tree.",
            .fills = true},
    Builtin{.name = places_of_group,
            .arguments = place_arguments,
            .result = ResultKind::IntVector,
            .result_optional = false,
            .doc = "The places first, first + 1, …, as many as `count`. Domain fault where one of them is negative.",
            .hidden = true},
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
    Builtin{"gram", matrix_argument, ResultKind::Square, false, "The products of all rows of m with each other: m mᵀ."},
    Builtin{"cosine_gram", matrix_argument, ResultKind::Square, false,
            "The cosines between all rows of m, in -1..1; 0 for a row of zeros."},
    Builtin{"diagonal", matrix_argument, ResultKind::RealsAlong, false,
            "The elements m[i, i]. Domain fault where m is not square."},
    Builtin{"ridge", ridge_arguments, ResultKind::Same, false,
            "m with x added to each element of its diagonal. Domain fault where m is not square."},
    Builtin{"participation_ratio", matrix_argument, ResultKind::Real, false,
            "How many directions a Gram matrix spreads over: its trace squared over the sum of its squared elements, 1..n; 0 "
            "for a matrix of zeros. Domain fault where m is not square."},
    Builtin{"effective_count", weighted_arguments, ResultKind::Real, false,
            "Of vectors with Gram matrix m and these weights, the squared length of their sum over the sum of their squared "
            "lengths: 0 where they cancel, 1 where they are orthogonal, n where they are equal; 0 where all are 0. Domain "
            "fault for other sizes."},
    Builtin{"eigenvalues", matrix_argument, ResultKind::RealVector, false,
            "Of a symmetric matrix, in descending order. Domain fault where m is not symmetric."},
    Builtin{"eigenvectors", matrix_argument, ResultKind::Same, false,
            "Of a symmetric matrix, as columns of length 1 in the order of eigenvalues(m); the largest element of each, the "
            "first of equal ones, is positive. Domain fault where m is not symmetric."},
    Builtin{"eigengap", space_arguments, ResultKind::Real, true,
            "The distance between the k-th and the next eigenvalue of a symmetric matrix, 0 or more; undefined for k outside "
            "1..n-1. Domain fault where m is not symmetric."},
    Builtin{.name = "top_eigenspace",
            .arguments = space_arguments,
            .result = ResultKind::Same,
            .result_optional = false,
            .doc = "The space of the k leading eigenvectors of a symmetric matrix, as the matrix that projects onto it (so no "
                   "sign is chosen); all of it for k beyond n. It is undefined for a matrix of zeros, and where the k-th "
                   "eigenvalue is not apart from the next by 1e-9 of the largest. Domain fault for k < 1 and where m is not "
                   "symmetric.",
            .result_missing = true},
    Builtin{"project", basis_arguments, ResultKind::Same, false,
            "The part of v that lies in the space of top_eigenspace. Domain fault for other sizes."},
    Builtin{"reject", basis_arguments, ResultKind::Same, false,
            "v without the part that lies in the space of top_eigenspace. Domain fault for other sizes."},
    Builtin{"log_det", matrix_argument, ResultKind::Real, true,
            "The natural logarithm of the determinant of a symmetric positive definite matrix, from its Cholesky factor; "
            "undefined where m is not positive definite. Domain fault where m is not symmetric."},
    Builtin{.name = "inverse_diagonal",
            .arguments = matrix_argument,
            .result = ResultKind::RealsAlong,
            .result_optional = false,
            .doc = "The diagonal of the inverse of a symmetric positive definite matrix, from its Cholesky factor; it is "
                   "undefined where m is not positive definite. Domain fault where m is not symmetric.",
            .result_missing = true},
    Builtin{.name = "log_det_shares",
            .arguments = matrix_argument,
            .result = ResultKind::RealsAlong,
            .result_optional = false,
            .doc = "What each row and its column add to log_det of those before it, on average over all orders (Shapley "
                   "values, exact); they add up to log_det(m). It is undefined where m is not positive definite. Domain fault "
                   "where m is not symmetric or has more than 12 rows.",
            .result_missing = true},
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
    Builtin{"beta_sd", belief_argument, ResultKind::Real, false,
            "The standard deviation of the hit rate, in 0..1/2. Also written belief.sd."},
    Builtin{"beta_cdf", belief_real, ResultKind::Prob, false,
            "The chance that the hit rate is at most x. Domain fault for x outside 0..1."},
    Builtin{"beta_quantile", belief_chance, ResultKind::Prob, false,
            "The hit rate below which the belief has a share p. Domain fault for p outside 0..1."},
    // chances and information
    Builtin{"binomial_pmf", trial_arguments, ResultKind::Prob, false,
            "The chance of exactly k hits among n rollouts at hit rate p. Domain fault for p outside 0..1, n < 0 or n above "
            "about a million."},
    Builtin{"binomial_cdf", trial_arguments, ResultKind::Prob, false,
            "The chance of at most k hits among n rollouts at hit rate p. Domain fault for p outside 0..1, n < 0 or n above "
            "about a million."},
    Builtin{"pass_at_k", sample_arguments, ResultKind::Prob, true,
            "The chance that k rollouts hold a hit, estimated without bias from n scored ones of which `hits` hit: 1 - C(n - "
            "hits, k) / C(n, k); undefined where n < k. Domain fault for a negative count, hits > n or n above about a "
            "million. Chen et al., arXiv:2107.03374."},
    Builtin{"student_t_cdf", t_arguments, ResultKind::Prob, false,
            "The chance that Student's t with so many degrees of freedom is at most t. Domain fault for degrees <= 0."},
    Builtin{"student_t_quantile", t_chance, ResultKind::Real, false,
            "The t below which Student's t has a share p. Domain fault for p outside (0, 1) and degrees <= 0."},
    Builtin{"normal_cdf", real_argument, ResultKind::Prob, false,
            "The chance that a standard normal variable is at most x."},
    Builtin{"normal_quantile", chance_argument, ResultKind::Real, false,
            "The x below which a standard normal variable lies with chance p. Domain fault for p outside (0, 1)."},
    Builtin{"weights_entropy", real_vector, ResultKind::Real, true,
            "The entropy in nats of the weights over their sum, 0..ln n; undefined where none is above 0. Domain fault for a "
            "negative weight."},
    Builtin{"bernoulli_entropy", chance_argument, ResultKind::Real, false,
            "-p ln p - (1 - p) ln(1 - p), in nats, 0..ln 2. Domain fault for p outside 0..1."},
    Builtin{"bernoulli_kl", two_chances, ResultKind::Real, false,
            "p ln(p / q) + (1 - p) ln((1 - p) / (1 - q)), in nats, 0 or more. Not-finite fault where q excludes what p "
            "allows; domain fault for p or q outside 0..1."},
    Builtin{"geometric_sum", geometric_arguments, ResultKind::Real, false,
            "1 + r + … + r^(n - 1); 0 for n = 0. Domain fault for n < 0; not-finite fault where it overflows."},
    Builtin{"sprt_ratio", ratio_arguments, ResultKind::Real, false,
            "The log-likelihood ratio of hit rate p1 against p0 after so many hits and misses: hits ln(p1 / p0) + misses "
            "ln((1 - p1) / (1 - p0)). Domain fault for p0 or p1 outside (0, 1) or a negative count. Wald 1945."},
    Builtin{"sprt_upper", error_arguments, ResultKind::Real, false,
            "ln((1 - beta) / alpha): at or above it the ratio speaks for p1. Domain fault unless both are in (0, 1/2). Wald "
            "1945."},
    Builtin{"sprt_lower", error_arguments, ResultKind::Real, false,
            "ln(beta / (1 - alpha)): at or below it the ratio speaks for p0. Domain fault unless both are in (0, 1/2). Wald "
            "1945."},
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
