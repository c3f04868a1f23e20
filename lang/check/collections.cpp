#include "lang/check/collections.h"

#include <array>

#include "lang/check/points.h"

namespace allot::lang::checker {
namespace {

constexpr std::array rows{
    Collection{Subject::Group, "rollouts", Scope::Rollouts, ""},
    Collection{Subject::MicroBatch, "rollouts", Scope::Trained, ""},
    Collection{Subject::Batch, "groups", Scope::Groups, "no group is open yet"},
    Collection{Subject::Batch, "ended", Scope::Ended, "it exists at the barrier `update`"},
    Collection{Subject::Batch, "prompts", Scope::Prompts, ""},
    Collection{Subject::Batch, "stored", Scope::Stored, "it exists at `replay`"},
    Collection{Subject::Batch, "anchors", Scope::Anchors, "it exists at `expand`"},
    Collection{Subject::Pool, "prompts", Scope::Pool, ""},
    Collection{Subject::Pool, "known", Scope::Known, ""},
};

}  // namespace

std::span<const Collection> collections() {
  return rows;
}

const Collection* find_collection(Subject owner, std::string_view name) {
  for (const Collection& row : rows) {
    if (row.owner == owner && row.name == name) return &row;
  }
  return nullptr;
}

const Collection* first_collection(Subject owner, Point point) {
  for (const Collection& row : rows) {
    if (row.owner == owner && exists_at(row, point)) return &row;
  }
  return nullptr;
}

bool exists_at(const Collection& collection, Point point) {
  switch (collection.scope) {
    case Scope::Groups:
      return point != Point::Size;
    case Scope::Ended:
      return barrier(point);
    case Scope::Stored:
      return point == Point::Replay;
    case Scope::Anchors:
      return point == Point::Expand;
    default:
      return true;
  }
}

std::optional<Scope> rollouts_of(Scope groups) {
  switch (groups) {
    case Scope::Groups:
      return Scope::GroupRollouts;
    case Scope::Ended:
      return Scope::EndedRollouts;
    case Scope::Stored:
      return Scope::StoredRollouts;
    default:
      return std::nullopt;
  }
}

bool of_many_groups(Scope scope) {
  return scope == Scope::GroupRollouts || scope == Scope::EndedRollouts || scope == Scope::StoredRollouts;
}

Subject element_subject(Scope scope) {
  switch (scope) {
    case Scope::Rollouts:
    case Scope::Trained:
    case Scope::GroupRollouts:
    case Scope::EndedRollouts:
    case Scope::StoredRollouts:
      return Subject::Rollout;
    case Scope::Prompts:
    case Scope::Pool:
    case Scope::Known:
      return Subject::Prompt;
    case Scope::Anchors:
      return Subject::Anchor;
    default:
      return Subject::Group;
  }
}

}  // namespace allot::lang::checker
