#include "runtime/training/safetensors.h"

#include <array>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "runtime/engine/disk.h"
#include "runtime/training/files.h"

namespace allot::training {
namespace {

static_assert(std::endian::native == std::endian::little, "tensors are copied as they lie in memory");

using nlohmann::json;

struct TypeName {
  DType type;
  std::string_view name;
  int bytes;
};
constexpr std::array kTypes = {
    TypeName{DType::F64, "F64", 8}, TypeName{DType::F32, "F32", 4}, TypeName{DType::F16, "F16", 2},
    TypeName{DType::BF16, "BF16", 2}, TypeName{DType::I64, "I64", 8}, TypeName{DType::I32, "I32", 4},
    TypeName{DType::U8, "U8", 1},
};

const TypeName& row_of(DType type) {
  for (const TypeName& row : kTypes)
    if (row.type == type) return row;
  __builtin_unreachable();
}

std::optional<DType> parse_type(std::string_view name) {
  for (const TypeName& row : kTypes)
    if (row.name == name) return row.type;
  return std::nullopt;
}

Error damaged(const std::filesystem::path& path, const std::string& what) {
  return Error{path.string() + " is damaged: " + what,
               "it may have been cut short while it was written or copied; use an earlier checkpoint or copy it again"};
}

// The tensor that `entry` of the header describes, cut out of `data`.
Result<RawTensor> cut(const std::filesystem::path& path, const std::string& name, const json& entry,
                      std::string_view data) {
  const std::string type_name = entry.at("dtype").get<std::string>();
  const auto type = parse_type(type_name);
  if (!type)
    return Error{path.string() + ": tensor " + name + " has the type " + type_name + ", which is not supported",
                          "convert the model to F32, F16 or BF16"};
  RawTensor tensor{*type, entry.at("shape").get<std::vector<std::int64_t>>(), {}};
  std::uint64_t wanted = static_cast<std::uint64_t>(byte_size(*type));
  for (const std::int64_t size : tensor.shape) {
    if (size < 0 || __builtin_mul_overflow(wanted, static_cast<std::uint64_t>(size), &wanted))
      return damaged(path, "tensor " + name + " has an impossible shape");
  }
  const auto offsets = entry.at("data_offsets").get<std::array<std::uint64_t, 2>>();
  if (offsets[0] > offsets[1] || offsets[1] - offsets[0] != wanted)
    return damaged(path, "tensor " + name + " has offsets that do not fit its shape");
  if (offsets[1] > data.size())
    return damaged(path, "tensor " + name + " ends at byte " + std::to_string(offsets[1]) + " of " +
                             std::to_string(data.size()) + " that are there");
  tensor.bytes = data.substr(offsets[0], wanted);
  return tensor;
}

}  // namespace

int byte_size(DType type) { return row_of(type).bytes; }

Result<TensorMap> read_safetensors(const std::filesystem::path& path) {
  const auto file = read_file(path);
  if (!file) return file.error();
  std::uint64_t header_size = 0;
  if (file->size() < sizeof header_size) return damaged(path, "it has no header");
  std::memcpy(&header_size, file->data(), sizeof header_size);
  if (header_size > file->size() - sizeof header_size)
    return damaged(path, "its header of " + std::to_string(header_size) + " bytes runs past the end of the file");
  const std::string_view whole = *file;
  const std::string_view header = whole.substr(sizeof header_size, header_size);
  const std::string_view data = whole.substr(sizeof header_size + header_size);
  try {
    TensorMap tensors;
    const json root = json::parse(header);
    for (const auto& [name, entry] : root.items()) {
      if (name == "__metadata__") continue;
      auto tensor = cut(path, name, entry, data);
      if (!tensor) return tensor.error();
      tensors.emplace(name, *std::move(tensor));
    }
    return tensors;
  } catch (const json::exception&) {
    return damaged(path, "its header is not JSON of the expected form");
  }
}

Result<void> write_safetensors(const std::filesystem::path& path, const TensorMap& tensors) {
  json header = {{"__metadata__", {{"format", "pt"}}}};
  std::uint64_t at = 0;
  for (const auto& [name, tensor] : tensors) {
    header[name] = {{"dtype", row_of(tensor.type).name},
                    {"shape", tensor.shape},
                    {"data_offsets", {at, at + tensor.bytes.size()}}};
    at += tensor.bytes.size();
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // tensors start aligned
  const std::uint64_t header_size = text.size();

  std::string file(reinterpret_cast<const char*>(&header_size), sizeof header_size);
  file.reserve(sizeof header_size + text.size() + at);
  file += text;
  for (const auto& [name, tensor] : tensors) file += tensor.bytes;
  return engine::replace_file(path, file);
}

}  // namespace allot::training
