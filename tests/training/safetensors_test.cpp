#include "runtime/training/safetensors.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace allot::training;

namespace {

struct Scratch {
  std::filesystem::path folder = std::filesystem::temp_directory_path() / ("allot-st-" + std::to_string(::getpid()));
  Scratch() { std::filesystem::create_directories(folder); }
  ~Scratch() { std::filesystem::remove_all(folder); }
};

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string with_header(const std::string& header, const std::string& data) {
  const std::uint64_t size = header.size();
  return std::string(reinterpret_cast<const char*>(&size), 8) + header + data;
}

}  // namespace

TEST_CASE("Tensors come back as they were written") {
  const Scratch scratch;
  const auto path = scratch.folder / "a.safetensors";
  TensorMap tensors;
  tensors["b"] = {DType::F32, {2, 3}, std::string("\x01\x02\x03\x04", 4) + std::string(20, '\x7f')};
  tensors["a"] = {DType::BF16, {0, 5}, ""};
  tensors["scalar"] = {DType::I64, {}, std::string(8, '\x02')};
  REQUIRE(write_safetensors(path, tensors));
  const auto again = read_safetensors(path);
  REQUIRE(again);
  REQUIRE(again->size() == 3);
  for (const auto& [name, tensor] : tensors) {
    CHECK(again->at(name).shape == tensor.shape);
    CHECK(again->at(name).bytes == tensor.bytes);
    CHECK(again->at(name).type == tensor.type);
  }
  CHECK(std::filesystem::directory_iterator(scratch.folder) != std::filesystem::directory_iterator());
  CHECK(std::distance(std::filesystem::directory_iterator(scratch.folder), {}) == 1);  // no temporary file is left
}

TEST_CASE("A file cut at any byte is refused with what to do") {
  const Scratch scratch;
  const auto path = scratch.folder / "cut.safetensors";
  REQUIRE(write_safetensors(path, {{"w", {DType::F32, {4}, std::string(16, '\1')}}}));
  const std::string whole = bytes_of(path);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    std::ofstream(path, std::ios::binary) << whole.substr(0, size);
    const auto result = read_safetensors(path);
    REQUIRE_FALSE(result);
    CHECK(result.error().what.find("cut.safetensors") != std::string::npos);
    CHECK_FALSE(result.error().help.empty());
  }
}

TEST_CASE("Headers that lie are refused") {
  const Scratch scratch;
  const auto path = scratch.folder / "lie.safetensors";
  const auto refused = [&](const std::string& header) {
    std::ofstream(path, std::ios::binary) << with_header(header, std::string(16, '\0'));
    return !read_safetensors(path);
  };
  CHECK_FALSE(refused(R"({"w":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}})"));
  CHECK(refused(R"({"w":{"dtype":"F32","shape":[5],"data_offsets":[0,16]}})"));
  CHECK(refused(R"({"w":{"dtype":"F32","shape":[5],"data_offsets":[0,20]}})"));
  CHECK(refused(R"({"w":{"dtype":"F32","shape":[-4],"data_offsets":[0,16]}})"));
  CHECK(refused(R"({"w":{"dtype":"F32","shape":[4],"data_offsets":[16,0]}})"));
  CHECK(refused(R"({"w":{"dtype":"F8","shape":[16],"data_offsets":[0,16]}})"));
  CHECK(refused(R"({"w":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}})"));
  CHECK(refused(R"([1,2])"));
}

TEST_CASE("A missing file is named") {
  const auto result = read_safetensors("/nowhere/model.safetensors");
  REQUIRE_FALSE(result);
  CHECK(result.error().what.find("/nowhere/model.safetensors") != std::string::npos);
}

TEST_CASE("A full disk is told apart, and leaves nothing behind", "[disk]") {
  if (!std::filesystem::exists("/dev/full")) return;
  const Scratch scratch;
  // It is written under another name beside its own; a link of that name leads to a device that is full.
  const auto path = scratch.folder / "model.safetensors";
  std::filesystem::create_symlink("/dev/full", path.string() + ".new");
  const auto result = write_safetensors(path, {{"w", {DType::F32, {4}, std::string(16, '\1')}}});
  REQUIRE_FALSE(result);
  CHECK(result.error().text().find("space") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(path));
}
