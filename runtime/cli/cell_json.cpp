#include "runtime/cli/cell_json.h"

#include "lang/program.h"

namespace allot::cli {

nlohmann::ordered_json cell_json(const lang::Cell& cell, const lang::Type& type) {
  if (cell.defined == 0) return nullptr;
  switch (type.base) {
    case lang::Base::Bool: return cell.truth();
    case lang::Base::Int: return cell.integer();
    case lang::Base::Real: return cell.real();
    default: return lang::show(cell, type);
  }
}

}  // namespace allot::cli
