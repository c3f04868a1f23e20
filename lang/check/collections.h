// What can be walked by its name after a dot: `g.rollouts`, `b.groups`, `p.known`.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "lang/facts.h"

namespace allot::lang::checker {

struct Collection {
  Subject owner;
  std::string_view name;
  Scope scope;
  std::string_view where;  // where it exists, for messages; empty: wherever its owner is
};

std::span<const Collection> collections();
const Collection* find_collection(Subject owner, std::string_view name);
const Collection* first_collection(Subject owner, Point point);  // that exists there; null where there is none
bool exists_at(const Collection& collection, Point point);
// The scope of all rollouts of these groups.
std::optional<Scope> rollouts_of(Scope groups);
bool of_many_groups(Scope scope);
// What an element of a walk over `scope` is.
Subject element_subject(Scope scope);

}  // namespace allot::lang::checker
