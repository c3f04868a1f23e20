// The safetensors container, by hand: a length, a JSON header, raw little-endian tensors.
// Format: https://huggingface.co/docs/safetensors
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/result.h"

namespace allot::training {

enum class DType { F64, F32, F16, BF16, I64, I32, U8 };

int byte_size(DType type);

// One tensor: row-major bytes. `bytes.size()` is the product of `shape` times the size of the type.
struct RawTensor {
  DType type = DType::F32;
  std::vector<std::int64_t> shape;
  std::string bytes;
};

using TensorMap = std::map<std::string, RawTensor>;

// Every offset is checked against the file: a truncated or foreign file gives an error, never a short tensor.
Result<TensorMap> read_safetensors(const std::filesystem::path& path);
Result<void> write_safetensors(const std::filesystem::path& path, const TensorMap& tensors);

}  // namespace allot::training
