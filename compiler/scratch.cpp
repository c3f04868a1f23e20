#include <algorithm>
#include <new>

#include "compiler/executable.h"

namespace allot::compiler {
namespace {

constexpr std::size_t first_block = 1 << 12;

}  // namespace

Cell* Scratch::take(std::int64_t count) noexcept {
  static Cell nothing;  // none can be had of exhausted memory too
  if (count == 0) return &nothing;
  if (count < 0 || static_cast<std::size_t>(count) > most_ - taken_) return nullptr;
  const auto wanted = static_cast<std::size_t>(count);
  if ((blocks_.empty() || wanted > blocks_[block_].size() - used_) && !grow(wanted)) return nullptr;
  Cell* const first = blocks_[block_].data() + used_;
  used_ += wanted;
  taken_ += wanted;
  return first;
}

// The next block that is large enough; a new one is at least twice the last.
bool Scratch::grow(std::size_t count) noexcept {
  while (!blocks_.empty() && block_ + 1 < blocks_.size()) {
    ++block_;
    used_ = 0;
    if (blocks_[block_].size() >= count) return true;
  }
  const std::size_t size = std::max(count, blocks_.empty() ? first_block : 2 * blocks_.back().size());
  try {
    blocks_.emplace_back(size);
  } catch (const std::bad_alloc&) {
    return false;
  }
  block_ = blocks_.size() - 1;
  used_ = 0;
  return true;
}

void Scratch::reset() noexcept {
  taken_ = 0;
  block_ = 0;
  used_ = 0;
}

}  // namespace allot::compiler
