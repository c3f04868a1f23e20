#include "runtime/engine/journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "runtime/engine/checked_line.h"
#include "runtime/engine/disk.h"
#include "runtime/engine/journal_chain.h"

namespace allot::engine {
namespace {

constexpr std::uint64_t segment_bytes = std::uint64_t{64} << 20;

}  // namespace

std::vector<std::filesystem::path> segments(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".jsonl") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

Result<JournalWriter> JournalWriter::open(const std::filesystem::path& folder) {
  if (auto made = make_folders(folder); !made) return made.error();
  const std::vector<std::filesystem::path> there = segments(folder);
  int next = 1;
  for (const auto& file : there) next = std::max(next, std::atoi(file.stem().c_str()) + 1);
  auto sum = journal_sum(folder);
  if (!sum) return sum.error();
  JournalWriter writer(folder, next);
  writer.chain_.restart(*std::move(sum));
  auto opened = writer.open_segment();
  if (!opened) return opened.error();
  return writer;
}

JournalWriter::~JournalWriter() { close(); }

JournalWriter::JournalWriter(JournalWriter&& other) noexcept { *this = std::move(other); }

JournalWriter& JournalWriter::operator=(JournalWriter&& other) noexcept {
  if (this == &other) return *this;
  close();
  folder_ = std::move(other.folder_);
  segment_ = other.segment_;
  file_ = std::exchange(other.file_, -1);
  written_ = other.written_;
  buffer_ = std::move(other.buffer_);
  chain_ = std::move(other.chain_);
  unwritten_ = std::move(other.unwritten_);
  behind_ = std::move(other.behind_);
  return *this;
}

Result<void> JournalWriter::open_segment() {
  const std::filesystem::path file = folder_ / fmt::format("{:06}.jsonl", segment_);
  file_ = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
  if (file_ < 0) return cannot("open", file);
  written_ = 0;
  return sync_folder(folder_);
}

Result<void> JournalWriter::settle() {
  if (!behind_) return {};
  if (auto error = behind_->wait()) return *std::move(error);
  return {};
}

void JournalWriter::close() {
  (void)settle();
  if (file_ >= 0) ::close(std::exchange(file_, -1));
}

void JournalWriter::append(std::string record) {
  const std::string line = seal(std::move(record));
  chain_.add(line);
  buffer_ += line;
  buffer_ += '\n';
}

Result<void> JournalWriter::barrier(Background::Task beside) {
  if (auto settled = settle(); !settled) return settled;
  const std::filesystem::path file = folder_ / fmt::format("{:06}.jsonl", segment_);
  if (!write_all(file_, buffer_)) {
    const Error error = cannot("write", file);
    // What was half written goes, so that the next try does not leave a broken line in the middle.
    (void)!::ftruncate(file_, static_cast<off_t>(written_));
    unwritten_ = error;
    return error;
  }
  unwritten_.reset();
  auto work = [descriptor = file_, file, beside = std::move(beside)]() -> std::optional<Error> {
    if (!data_to_disk(descriptor)) return cannot("write", file);
    return beside ? beside() : std::nullopt;
  };
  if (!behind_) behind_ = std::make_unique<Background>();
  if (auto error = behind_->begin(std::move(work))) return *std::move(error);
  written_ += buffer_.size();
  buffer_.clear();
  if (written_ < segment_bytes) return {};
  close();
  ++segment_;
  return open_segment();
}

namespace {

std::string place_of(const std::filesystem::path& file, std::int64_t number) {
  return fmt::format("{}:{}", (file.parent_path().filename() / file.filename()).string(), number);
}

// `whole` tells whether the line ended with a line end.
void read_line(const std::string& line, bool whole, const std::filesystem::path& file, std::int64_t number,
               JournalProblems& problems, const std::function<void(const JournalLine&)>& use) {
  if (const auto record = unseal(line)) return use({file, number, line, *record});
  if (!whole) {
    ++problems.cut_lines;
    return;
  }
  problems.damaged.push_back(
      fmt::format("{}: the line is damaged: its checksum does not fit.", place_of(file, number)));
}

}  // namespace

std::string JournalLine::place() const { return place_of(file, number); }

Result<JournalProblems> read_lines(const std::filesystem::path& folder,
                                   const std::function<void(const JournalLine&)>& use) {
  const std::vector<std::filesystem::path> files = segments(folder);
  if (files.empty()) return Error{"There is no journal in " + folder.string() + ".", "give the folder of a run"};
  JournalProblems problems;
  for (const auto& file : files) {
    std::ifstream stream(file, std::ios::binary);
    if (!stream) return cannot("read", file);
    std::string line;
    for (std::int64_t number = 1; std::getline(stream, line); ++number) {
      read_line(line, !stream.eof(), file, number, problems, use);
    }
  }
  return problems;
}

Result<JournalProblems> read_journal(const std::filesystem::path& folder,
                                     const std::function<void(const nlohmann::ordered_json&)>& use) {
  return read_lines(folder, [&](const JournalLine& line) { use(line.record); });
}

}  // namespace allot::engine
