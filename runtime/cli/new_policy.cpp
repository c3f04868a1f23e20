#include "runtime/cli/new_policy.h"

#include <fmt/core.h>

namespace allot::cli {

std::string new_policy(std::string_view name) {
  constexpr std::string_view rest = R"(
## How alike is too alike: the mean normalised edit distance of the actions, 0 for equal ones.
param threshold: real = 0.2 in 0..1
## The turn at which the group is looked at.
param at: turns = 5

on turn at of group g {
  let divergence = mean_pairwise(normalized_edit_distance, prefixes(g.actions, at, padded))
  when (divergence ?? 1.0) < threshold then stop, drop because "converged: divergence {divergence}"
  otherwise continue
}

test "equal actions stop" {
  given g = group { actions: [["look", "go desk", "open box", "take pen", "go home"]] * 4, turn: 5 }
  expect turn(g) is stop, drop
}

# Four of five actions are equal: a distance of 1/5, which is not below the threshold.
test "on the threshold it goes on" {
  given g = group {
    actions: [
      ["look", "go desk", "open box", "take pen", "go home"],
      ["look", "go desk", "open box", "take pen", "wait"]
    ],
    turn: 5
  }
  expect turn(g) is continue
}

test "a wider threshold stops it" {
  with threshold = 0.25
  given g = group {
    actions: [
      ["look", "go desk", "open box", "take pen", "go home"],
      ["look", "go desk", "open box", "take pen", "wait"]
    ],
    turn: 5
  }
  expect turn(g) is stop, drop
}

test "a single rollout has no pair and goes on" {
  given g = group { actions: [["look", "go desk", "open box", "take pen", "go home"]], turn: 5 }
  expect turn(g) is continue
}
)";
  return fmt::format("## Stop a group whose rollouts all do the same thing: it will teach nothing.\npolicy {}\n{}",
                     name, rest);
}

}  // namespace allot::cli
