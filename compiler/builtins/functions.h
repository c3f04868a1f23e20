// All built-ins by subject. Names as in lang/builtins.h; what each computes is said there.
#pragma once

#include "compiler/builtins/value.h"

namespace allot::compiler::builtins {

// arithmetic.cpp: numbers of either base
FaultKind absolute(const Value*, Value&, Scratch&) noexcept;
FaultKind minimum(const Value*, Value&, Scratch&) noexcept;
FaultKind maximum(const Value*, Value&, Scratch&) noexcept;
FaultKind clamp(const Value*, Value&, Scratch&) noexcept;
FaultKind within(const Value*, Value&, Scratch&) noexcept;
FaultKind floor(const Value*, Value&, Scratch&) noexcept;
FaultKind ceil(const Value*, Value&, Scratch&) noexcept;
FaultKind round_even(const Value*, Value&, Scratch&) noexcept;

// elementary.cpp: reals
FaultKind sqrt(const Value*, Value&, Scratch&) noexcept;
FaultKind exp(const Value*, Value&, Scratch&) noexcept;
FaultKind log(const Value*, Value&, Scratch&) noexcept;
FaultKind pow(const Value*, Value&, Scratch&) noexcept;
FaultKind detach(const Value*, Value&, Scratch&) noexcept;
FaultKind tanh(const Value*, Value&, Scratch&) noexcept;

// spread.cpp: one value from a vector, undefined elements left out
FaultKind variance(const Value*, Value&, Scratch&) noexcept;
FaultKind deviation(const Value*, Value&, Scratch&) noexcept;
FaultKind normalized(const Value*, Value&, Scratch&) noexcept;
FaultKind size(const Value*, Value&, Scratch&) noexcept;

// order.cpp: positions in a vector
FaultKind top(const Value*, Value&, Scratch&) noexcept;
FaultKind bottom(const Value*, Value&, Scratch&) noexcept;
FaultKind argsort(const Value*, Value&, Scratch&) noexcept;
FaultKind rank(const Value*, Value&, Scratch&) noexcept;
FaultKind quantile(const Value*, Value&, Scratch&) noexcept;
FaultKind median(const Value*, Value&, Scratch&) noexcept;
FaultKind places_of_group(const Value*, Value&, Scratch&) noexcept;

// subset.cpp
FaultKind max_variance(const Value*, Value&, Scratch&) noexcept;

// scans.cpp
FaultKind prefix_sum(const Value*, Value&, Scratch&) noexcept;
FaultKind discounted(const Value*, Value&, Scratch&) noexcept;
FaultKind discounted_by(const Value*, Value&, Scratch&) noexcept;
FaultKind pick(const Value*, Value&, Scratch&) noexcept;

// classes.cpp
FaultKind sum_by(const Value*, Value&, Scratch&) noexcept;
FaultKind mean_by(const Value*, Value&, Scratch&) noexcept;
FaultKind std_by(const Value*, Value&, Scratch&) noexcept;
FaultKind count_by(const Value*, Value&, Scratch&) noexcept;
FaultKind distinct(const Value*, Value&, Scratch&) noexcept;

// tree.cpp
FaultKind tree_sum(const Value*, Value&, Scratch&) noexcept;
FaultKind tree_count(const Value*, Value&, Scratch&) noexcept;
FaultKind tree_mean(const Value*, Value&, Scratch&) noexcept;
FaultKind tree_mean_of_means(const Value*, Value&, Scratch&) noexcept;
FaultKind tree_max(const Value*, Value&, Scratch&) noexcept;
FaultKind tree_depth(const Value*, Value&, Scratch&) noexcept;
FaultKind tree_children(const Value*, Value&, Scratch&) noexcept;

// spectrum.cpp
FaultKind gram(const Value*, Value&, Scratch&) noexcept;
FaultKind cosine_gram(const Value*, Value&, Scratch&) noexcept;
FaultKind diagonal(const Value*, Value&, Scratch&) noexcept;
FaultKind ridge(const Value*, Value&, Scratch&) noexcept;
FaultKind participation_ratio(const Value*, Value&, Scratch&) noexcept;
FaultKind effective_count(const Value*, Value&, Scratch&) noexcept;
FaultKind eigenvalues(const Value*, Value&, Scratch&) noexcept;
FaultKind eigenvectors(const Value*, Value&, Scratch&) noexcept;
FaultKind eigengap(const Value*, Value&, Scratch&) noexcept;
FaultKind top_eigenspace(const Value*, Value&, Scratch&) noexcept;
FaultKind project(const Value*, Value&, Scratch&) noexcept;
FaultKind reject(const Value*, Value&, Scratch&) noexcept;
FaultKind log_det(const Value*, Value&, Scratch&) noexcept;
FaultKind inverse_diagonal(const Value*, Value&, Scratch&) noexcept;
FaultKind log_det_shares(const Value*, Value&, Scratch&) noexcept;

// chances.cpp
FaultKind beta_sd(const Value*, Value&, Scratch&) noexcept;
FaultKind beta_cdf(const Value*, Value&, Scratch&) noexcept;
FaultKind beta_quantile(const Value*, Value&, Scratch&) noexcept;
FaultKind binomial_pmf(const Value*, Value&, Scratch&) noexcept;
FaultKind binomial_cdf(const Value*, Value&, Scratch&) noexcept;
FaultKind pass_at_k(const Value*, Value&, Scratch&) noexcept;
FaultKind student_t_cdf(const Value*, Value&, Scratch&) noexcept;
FaultKind student_t_quantile(const Value*, Value&, Scratch&) noexcept;
FaultKind normal_cdf(const Value*, Value&, Scratch&) noexcept;
FaultKind normal_quantile(const Value*, Value&, Scratch&) noexcept;
FaultKind weights_entropy(const Value*, Value&, Scratch&) noexcept;
FaultKind bernoulli_entropy(const Value*, Value&, Scratch&) noexcept;
FaultKind bernoulli_kl(const Value*, Value&, Scratch&) noexcept;
FaultKind log_sum_exp(const Value*, Value&, Scratch&) noexcept;
FaultKind softmax(const Value*, Value&, Scratch&) noexcept;
FaultKind geometric_sum(const Value*, Value&, Scratch&) noexcept;
FaultKind sprt_ratio(const Value*, Value&, Scratch&) noexcept;
FaultKind sprt_upper(const Value*, Value&, Scratch&) noexcept;
FaultKind sprt_lower(const Value*, Value&, Scratch&) noexcept;

// matrix.cpp
FaultKind dot(const Value*, Value&, Scratch&) noexcept;
FaultKind outer(const Value*, Value&, Scratch&) noexcept;
FaultKind matmul(const Value*, Value&, Scratch&) noexcept;
FaultKind transpose(const Value*, Value&, Scratch&) noexcept;

// belief.cpp: what is known of a hit rate
FaultKind beta(const Value*, Value&, Scratch&) noexcept;
FaultKind observe(const Value*, Value&, Scratch&) noexcept;
FaultKind beta_mean(const Value*, Value&, Scratch&) noexcept;
FaultKind beta_variance(const Value*, Value&, Scratch&) noexcept;
FaultKind beta_learnability(const Value*, Value&, Scratch&) noexcept;
FaultKind prob_mixed(const Value*, Value&, Scratch&) noexcept;
FaultKind hit_utility(const Value*, Value&, Scratch&) noexcept;
FaultKind flat_prob(const Value*, Value&, Scratch&) noexcept;
FaultKind any_prob(const Value*, Value&, Scratch&) noexcept;

}  // namespace allot::compiler::builtins
