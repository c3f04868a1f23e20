#include "runtime/statistics/pair_columns.h"

#include <algorithm>
#include <bit>

// One body, compiled for each width of vector and chosen at start-up. Sanitizers cannot run before the choice is made.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_UNDEFINED__)
#define ALLOT_EVERY_WIDTH __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define ALLOT_EVERY_WIDTH
#endif

namespace allot::statistics {
namespace {

using Word = std::uint64_t;
constexpr std::size_t lanes = 8;  // words of the widest vector
constexpr int word_bits = 64;

std::size_t word_of(int row) { return static_cast<std::size_t>(row) / word_bits; }
Word bit_of(int row) { return Word{1} << (static_cast<unsigned>(row) % word_bits); }

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

void put_bit(Word& word, Word bit, bool value) { word = value ? word | bit : word & ~bit; }

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
          std::vector<Word>(symbols_.size() * stride_, 0), std::vector<Word>(stride_, 0)};
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
    spread(block.masks, symbols_.size() * stride, Word{0});
    block.bottom.resize(stride, 0);
  }
  spread(distances_, stride * stride, 0);
  stride_ = stride;
}

int PairColumns::local_symbol(Symbol symbol) {
  const auto [entry, fresh] = symbols_.try_emplace(symbol, static_cast<int>(symbols_.size()));
  if (fresh) {
    for (Block& block : blocks_) block.masks.resize(symbols_.size() * stride_, 0);
  }
  return entry->second;
}

void PairColumns::append(int text, Symbol symbol) {
  const int local = local_symbol(symbol);
  advance(text, local);
  grow(text, local);
}

void PairColumns::advance(int text, int symbol) {
  enters_up_.assign(stride_, 1);  // the row of the empty pattern grows by one
  enters_down_.assign(stride_, 0);
  leaves_up_.assign(stride_, 0);
  leaves_down_.assign(stride_, 0);
  for (int i = 0; i < count(); ++i) leaves_up_[static_cast<std::size_t>(i)] = length(i) == 0 ? 1 : 0;
  const std::size_t used = (static_cast<std::size_t>(count()) + lanes - 1) / lanes * lanes;
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
  for (int i = 0; i < count(); ++i) {
    if (i == text) continue;
    const bool up = leaves_up_[static_cast<std::size_t>(i)] != 0;
    const bool down = leaves_down_[static_cast<std::size_t>(i)] != 0;
    put_bit(block.rises[cell(i, text)], bit, up);
    put_bit(block.falls[cell(i, text)], bit, down);
    const int whole = distances_[cell(text, i)] + (up ? 1 : 0) - (down ? 1 : 0);
    distances_[cell(text, i)] = whole;
    distances_[cell(i, text)] = whole;
  }
  block.masks[cell(symbol, text)] |= bit;
  if (row > 0) blocks_[word_of(row - 1)].bottom[static_cast<std::size_t>(text)] = 0;
  block.bottom[static_cast<std::size_t>(text)] = bit;
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
