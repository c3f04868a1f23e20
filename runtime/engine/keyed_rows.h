// Rows of values by key, in pages: what an engine remembers of many prompts.
//
// A moment of it is taken in the time it takes to name its pages, and read by another thread while the table goes on: a
// page that somebody may still look at is copied before it is written. Every row has the stamp of the barrier that wrote
// it last, so whoever keeps the table on disk writes the new ones alone.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace allot::engine {

template <typename Value>
class KeyedRows {
  static constexpr std::size_t rows_a_page = 32;
  struct Page {
    std::uint64_t born = 0;  // as many moments had been taken before
    std::array<const std::string*, rows_a_page> keys{};  // into the index
    std::array<int, rows_a_page> stamps{};
    std::vector<Value> values;
  };
  struct Watch {
    std::atomic<std::uint64_t> moments = 0;  // that were taken
    std::atomic<int> looking = 0;            // … and are still there
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view key) const { return std::hash<std::string_view>()(key); }
  };
  // Nothing is ever taken out, so the keys stay where they are.
  using Index = std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>>;

  template <typename Pages>
  static std::span<const Value> values_in(const Pages& pages, std::size_t width, std::size_t row) {
    return std::span(std::as_const(pages[row / rows_a_page]->values)).subspan(row % rows_a_page * width, width);
  }

 public:
  // The table as it was; never changes, and copies of it share everything.
  class Moment {
   public:
    std::size_t size() const { return size_; }
    std::size_t width() const { return width_; }
    int now() const { return now_; }
    const std::string& key(std::size_t row) const { return *page(row).keys[row % rows_a_page]; }
    int stamp(std::size_t row) const { return page(row).stamps[row % rows_a_page]; }
    std::span<const Value> values(std::size_t row) const { return values_in(pages_, width_, row); }
    // Of the same table, so that rows of a later one with no later stamp are the same.
    bool continues(const Moment& earlier) const { return index_ == earlier.index_; }
    // To ask continues() later; it holds no page.
    Moment without_rows() const {
      Moment bare;
      bare.index_ = index_, bare.width_ = width_, bare.now_ = now_;
      return bare;
    }

   private:
    friend KeyedRows;
    const Page& page(std::size_t row) const { return *pages_[row / rows_a_page]; }

    std::shared_ptr<const Index> index_;  // holds the keys
    std::vector<std::shared_ptr<const Page>> pages_;
    std::size_t size_ = 0, width_ = 0;
    int now_ = 0;
    std::shared_ptr<const void> look_;  // last: the pages may be written in place once it is gone
  };

  // `width`: values a row. `now`: the stamp of what is written.
  explicit KeyedRows(std::size_t width = 1, int now = 0) : width_(width), now_(now) {}
  // What a moment shows, as a table of its own.
  explicit KeyedRows(const Moment& moment) : KeyedRows(moment.width(), moment.now()) {
    for (std::size_t row = 0; row < moment.size(); ++row) add(moment.key(row), moment.values(row), moment.stamp(row));
  }
  KeyedRows(KeyedRows&&) noexcept = default;
  KeyedRows& operator=(KeyedRows&&) noexcept = default;

  std::size_t size() const { return index_->size(); }
  std::size_t width() const { return width_; }
  int now() const { return now_; }
  std::optional<std::size_t> find(std::string_view key) const {
    const auto found = index_->find(key);
    return found == index_->end() ? std::nullopt : std::optional<std::size_t>(found->second);
  }
  const std::string& key(std::size_t row) const { return *pages_[row / rows_a_page]->keys[row % rows_a_page]; }
  int stamp(std::size_t row) const { return pages_[row / rows_a_page]->stamps[row % rows_a_page]; }
  std::span<const Value> values(std::size_t row) const { return values_in(pages_, width_, row); }

  // A barrier begins: what is written from here on has the next stamp.
  void next_barrier() {
    ++now_;
    changed_ = 0;
  }
  // A new row; the key is not there yet, and there are `width` values.
  std::size_t add(std::string_view key, std::span<const Value> values) { return add(key, values, now_); }
  std::size_t add(std::string_view key, std::span<const Value> values, int stamp) {
    const std::size_t row = index_->size();
    if (row % rows_a_page == 0) {
      auto page = std::make_shared<Page>();
      page->born = watch_->moments;
      page->values.resize(rows_a_page * width_);
      pages_.push_back(std::move(page));
    }
    Page& page = own(row);
    page.keys[row % rows_a_page] = &index_->emplace(key, static_cast<std::uint32_t>(row)).first->first;
    page.stamps[row % rows_a_page] = stamp;
    std::copy(values.begin(), values.end(), page.values.begin() + static_cast<std::ptrdiff_t>(row % rows_a_page * width_));
    ++changed_;
    return row;
  }
  // To be written; valid until the next change of the table.
  std::span<Value> change(std::size_t row) {
    Page& page = own(row);
    int& stamp = page.stamps[row % rows_a_page];
    changed_ += stamp != now_;
    stamp = now_;
    return std::span(page.values).subspan(row % rows_a_page * width_, width_);
  }
  // Part of a barrier: `write` changes the next few rows that nobody has changed, in turn, as many as the barrier has
  // changed so far and at least one in 64. So no row goes long without a new stamp, and to keep on disk all rows that are
  // the latest of their key takes no more than twice the table.
  template <typename Write>
  void renew(Write write) {
    const std::size_t count = std::min(size(), std::max({changed_, size() / 64, std::size_t{1024}}));
    for (std::size_t i = 0; i < count; ++i) {
      next_ = next_ < size() ? next_ : 0;
      if (stamp(next_) != now_) write(next_);
      ++next_;
    }
  }

  // By several threads, as long as nobody writes.
  Moment moment() const {
    Moment taken;
    taken.index_ = index_;
    taken.pages_.assign(pages_.begin(), pages_.end());
    taken.size_ = size(), taken.width_ = width_, taken.now_ = now_;
    watch_->looking.fetch_add(1, std::memory_order_relaxed);
    taken.look_ = std::shared_ptr<const void>(watch_.get(), [watch = watch_](const void*) {
      watch->looking.fetch_sub(1, std::memory_order_release);
    });
    ++watch_->moments;
    return taken;
  }

 private:
  // The page of a row, which nobody else looks at.
  Page& own(std::size_t row) {
    std::shared_ptr<Page>& page = pages_[row / rows_a_page];
    if (page->born != watch_->moments && watch_->looking.load(std::memory_order_acquire) != 0) {
      page = std::make_shared<Page>(*page);
      page->born = watch_->moments;
    }
    return *page;
  }

  std::shared_ptr<Index> index_ = std::make_shared<Index>();
  std::vector<std::shared_ptr<Page>> pages_;
  std::size_t width_ = 1;
  int now_ = 0;
  std::size_t changed_ = 0;  // rows with the stamp of now
  std::size_t next_ = 0;     // to be renewed
  std::shared_ptr<Watch> watch_ = std::make_shared<Watch>();
};

}  // namespace allot::engine
