// What a scenario claims of the run: conditions over groups, ledger and state.
#pragma once

#include <functional>
#include <string>

#include "common/result.h"
#include "lang/program.h"
#include "runtime/trial/record.h"

namespace allot::trial {

// The value of a name, of `owner.field` or of `name[key]`; a key or field that is not there is empty.
struct Place {
  std::string name;
  std::string field;
  std::string key;
  bool keyed = false;
};
using Look = std::function<Result<Value>(const Place&)>;

struct Claim {
  bool holds = false;
  std::string got;   // "a.started = 3": the values that were looked at
};
Result<Claim> judge(const lang::tree::File& tree, lang::tree::ExprId condition, const Look& look);

std::string show(const Value& value);

}  // namespace allot::trial
