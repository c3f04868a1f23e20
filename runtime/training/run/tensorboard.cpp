#include "runtime/training/run/tensorboard.h"

#include <bit>
#include <cstring>

#include "runtime/math/checksum.h"

namespace allot::training {
namespace {

// Little-endian on every host we build for; protobuf and TFRecord ask for it.
static_assert(std::endian::native == std::endian::little);

template <typename T>
void append_raw(std::string& out, T value) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out.append(bytes, sizeof(T));
}

void append_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

enum Wire { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

void append_key(std::string& out, int field, Wire wire) {
  append_varint(out, static_cast<std::uint64_t>(field << 3 | wire));
}

void append_bytes(std::string& out, int field, const std::string& text) {
  append_key(out, field, bytes);
  append_varint(out, text.size());
  out += text;
}

// TFRecord masks its checksums so that a checksum of data holding checksums stays sound.
std::uint32_t masked(const std::string& text) {
  const std::uint32_t crc = math::crc32c(text);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

}  // namespace

Result<TensorBoardWriter> TensorBoardWriter::open(const std::filesystem::path& folder, double wall_seconds) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const auto path = folder / "events.out.tfevents.0.run";  // not `.allot`: a policy file ends so
  std::ofstream out(path, std::ios::binary | std::ios::app);
  if (!out) return Error{"cannot write " + path.string(), "check the permissions and the free space of the run folder"};
  TensorBoardWriter writer(std::move(out));
  std::string event;  // Event { wall_time = 1; file_version = 3 }
  append_key(event, 1, fixed64);
  append_raw(event, wall_seconds);
  append_bytes(event, 3, "brain.Event:2");
  writer.record(event);
  return writer;
}

void TensorBoardWriter::scalar(const std::string& tag, std::int64_t iteration, double value, double wall_seconds) {
  std::string entry;  // Summary.Value { tag = 1; simple_value = 2 }
  append_bytes(entry, 1, tag);
  append_key(entry, 2, fixed32);
  append_raw(entry, static_cast<float>(value));
  std::string summary;  // Summary { value = 1 }
  append_bytes(summary, 1, entry);
  std::string event;  // Event { wall_time = 1; step = 2; summary = 5 }
  append_key(event, 1, fixed64);
  append_raw(event, wall_seconds);
  append_key(event, 2, varint);
  append_varint(event, static_cast<std::uint64_t>(iteration));
  append_bytes(event, 5, summary);
  record(event);
}

void TensorBoardWriter::record(const std::string& event) {
  std::string length;
  append_raw(length, static_cast<std::uint64_t>(event.size()));
  std::string frame = length;
  append_raw(frame, masked(length));
  frame += event;
  append_raw(frame, masked(event));
  out_.write(frame.data(), static_cast<std::streamsize>(frame.size()));
}

}  // namespace allot::training
