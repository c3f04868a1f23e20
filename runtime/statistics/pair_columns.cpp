#include "runtime/statistics/pair_columns.h"

#include <algorithm>
#include <bit>

// One body, compiled for each width of vector and chosen at start-up. Sanitizers cannot run before the choice is made.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && \
    !defined(__SANITIZE_UNDEFINED__)
#define ALLOT_EVERY_WIDTH __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define ALLOT_EVERY_WIDTH
#endif

namespace allot::statistics {
namespace {

using Word = std::uint64_t;
constexpr std::size_t lanes = 8;  // words of the widest vector
constexpr int word_bits = 64;

std::size_t word_of(int row) {
  return static_cast<std::size_t>(row) / word_bits;
}
Word bit_of(int row) {
  return Word{1} << (static_cast<unsigned>(row) % word_bits);
}

// One column of one block for `count` patterns at once (a multiple of `lanes`). Hyyrö's names: D0, HP, HN, VP, VN.
ALLOT_EVERY_WIDTH
void move_right(const Word* __restrict mask, const Word* __restrict bottom, Word* __restrict rises,
                Word* __restrict falls, Word* __restrict enters_up, Word* __restrict enters_down,
                Word* __restrict leaves_up, Word* __restrict leaves_down, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const Word vp = rises[i];
    const Word vn = falls[i];
    const Word equal = mask[i] | enters_down[i];
    const Word d0 = (((equal & vp) + vp) ^ vp) | equal | vn;
    const Word hp = vn | ~(d0 | vp);
    const Word hn = d0 & vp;
    leaves_up[i] |= hp & bottom[i];
    leaves_down[i] |= hn & bottom[i];
    const Word shifted_up = (hp << 1) | enters_up[i];
    const Word shifted_down = (hn << 1) | enters_down[i];
    enters_up[i] = hp >> 63;
    enters_down[i] = hn >> 63;
    rises[i] = shifted_down | ~(d0 | shifted_up);
    falls[i] = shifted_up & d0;
  }
}

// Turns the bottom differences of a text into the bit that they are in the text's new last row, and adds them to the
// distances.
ALLOT_EVERY_WIDTH
void settle_bottom(Word* __restrict up, Word* __restrict down, int* __restrict distances, Word bit, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const Word rose = up[i] != 0 ? ~Word{0} : 0;
    const Word fell = down[i] != 0 ? ~Word{0} : 0;
    distances[i] += static_cast<int>(fell) - static_cast<int>(rose);
    up[i] = rose & bit;
    down[i] = fell & bit;
  }
}

// Writes that row: as a pattern the text is one column of `rises` and `falls`.
void append_row(const Word* __restrict up, const Word* __restrict down, Word bit, Word* __restrict rises,
                Word* __restrict falls, std::size_t stride, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i, rises += stride, falls += stride) {
    *rises = (*rises & ~bit) | up[i];
    *falls = (*falls & ~bit) | down[i];
  }
}

void mirror(const int* row, int* column, std::size_t stride, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i, column += stride) *column = row[i];
}

}  // namespace

int PairColumns::add() {
  const int index = count();
  if (static_cast<std::size_t>(index) == stride_) widen(std::max(lanes, 2 * stride_));
  lengths_.push_back(0);
  // Against the new, empty text every row of a pattern is one above the last: the words are all ones from the start.
  for (int other = 0; other < index; ++other) {
    distances_[cell(index, other)] = length(other);
    distances_[cell(other, index)] = length(other);
  }
  return index;
}

PairColumns::Block PairColumns::make_block() const {
  return {std::vector<Word>(stride_ * stride_, ~Word{0}), std::vector<Word>(stride_ * stride_, 0),
          std::vector<Word>(symbols_ * stride_, 0), std::vector<Word>(stride_, 0)};
}

void PairColumns::widen(std::size_t stride) {
  const std::size_t old = stride_;
  const auto spread = [old, stride](auto& rows, std::size_t new_size, auto fill) {
    auto wider = std::remove_reference_t<decltype(rows)>(new_size, fill);
    for (std::size_t row = 0; row * old < rows.size(); ++row) {
      std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(row * old), old,
                  wider.begin() + static_cast<std::ptrdiff_t>(row * stride));
    }
    rows = std::move(wider);
  };
  for (Block& block : blocks_) {
    spread(block.rises, stride * stride, ~Word{0});
    spread(block.falls, stride * stride, Word{0});
    spread(block.masks, symbols_ * stride, Word{0});
    block.bottom.resize(stride, 0);
  }
  spread(distances_, stride * stride, 0);
  empty_.resize(stride, 1);
  for (std::vector<Word>* row : {&enters_up_, &enters_down_, &leaves_up_, &leaves_down_}) row->resize(stride);
  stride_ = stride;
}

int PairColumns::local_symbol(Symbol symbol) {
  const auto index = static_cast<std::size_t>(symbol);
  if (index >= local_.size()) local_.resize(std::max(2 * local_.size(), index + 1), -1);
  if (local_[index] < 0) {
    local_[index] = static_cast<int>(symbols_++);
    for (Block& block : blocks_) block.masks.resize(symbols_ * stride_, 0);
  }
  return local_[index];
}

void PairColumns::append(int text, Symbol symbol) {
  const int local = local_symbol(symbol);
  advance(text, local);
  grow(text, local);
}

void PairColumns::advance(int text, int symbol) {
  const std::size_t used = (static_cast<std::size_t>(count()) + lanes - 1) / lanes * lanes;
  std::fill_n(enters_up_.begin(), used, 1);  // the row of the empty pattern grows by one
  std::fill_n(enters_down_.begin(), used, 0);
  std::copy_n(empty_.begin(), used, leaves_up_.begin());
  std::fill_n(leaves_down_.begin(), used, 0);
  for (Block& block : blocks_) {
    move_right(&block.masks[cell(symbol, 0)], block.bottom.data(), &block.rises[cell(text, 0)],
               &block.falls[cell(text, 0)], enters_up_.data(), enters_down_.data(), leaves_up_.data(),
               leaves_down_.data(), used);
  }
}

void PairColumns::grow(int text, int symbol) {
  const int row = length(text);
  if (word_of(row) == blocks_.size()) blocks_.push_back(make_block());
  Block& block = blocks_[word_of(row)];
  const Word bit = bit_of(row);
  settle_bottom(leaves_up_.data(), leaves_down_.data(), &distances_[cell(text, 0)], bit, lengths_.size());
  append_row(leaves_up_.data(), leaves_down_.data(), bit, &block.rises[cell(0, text)], &block.falls[cell(0, text)],
             stride_, lengths_.size());
  mirror(&distances_[cell(text, 0)], &distances_[cell(0, text)], stride_, lengths_.size());
  block.masks[cell(symbol, text)] |= bit;
  if (row > 0) blocks_[word_of(row - 1)].bottom[static_cast<std::size_t>(text)] = 0;
  block.bottom[static_cast<std::size_t>(text)] = bit;
  empty_[static_cast<std::size_t>(text)] = 0;
  ++lengths_[static_cast<std::size_t>(text)];
}

int PairColumns::distance(int pattern, int rows, int text) const {
  if (rows == length(pattern)) return distances_[cell(text, pattern)];
  int value = length(text);  // the row of the empty pattern
  for (int first = 0; first < rows; first += word_bits) {
    const Block& block = blocks_[word_of(first)];
    const int left = rows - first;
    const Word kept = left >= word_bits ? ~Word{0} : bit_of(left) - 1;
    value += std::popcount(block.rises[cell(text, pattern)] & kept);
    value -= std::popcount(block.falls[cell(text, pattern)] & kept);
  }
  return value;
}

}  // namespace allot::statistics
