#include "compiler/executable.h"

namespace allot::compiler {

Cell* Scratch::take(std::int64_t count) noexcept {
  static Cell nothing;  // none can be had of exhausted memory too
  if (count == 0) return &nothing;
  if (count < 0 || static_cast<std::size_t>(count) > cells_.size() - used_) return nullptr;
  Cell* const first = cells_.data() + used_;
  used_ += static_cast<std::size_t>(count);
  return first;
}

}  // namespace allot::compiler
