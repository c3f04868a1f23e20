#include "runtime/package/exchange/bundle.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <memory>
#include <system_error>

#include "runtime/package/exchange/tar.h"
#include "runtime/package/limits.h"

namespace allot::package {

namespace fs = std::filesystem;

namespace {

constexpr int level = 19;        // packages are small and packed once
constexpr int most_window = 24;  // log2 of the bytes that reading a frame may keep

Result<std::string> compress(std::string_view bytes) {
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };
  const std::unique_ptr<ZSTD_CCtx, Free> context(ZSTD_createCCtx());
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  const std::size_t size = ZSTD_compress2(context.get(), packed.data(), packed.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(size) != 0) return Error{fmt::format("zstd: {}", ZSTD_getErrorName(size)), ""};
  packed.resize(size);
  return packed;
}

// One frame and nothing after it, of at most limits.archive_bytes: what is beyond is never made.
Result<std::string> decompress(std::string_view bytes) {
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  const std::unique_ptr<ZSTD_DCtx, Free> context(ZSTD_createDCtx());
  ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, most_window);
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  std::string text;
  std::string part(ZSTD_DStreamOutSize(), '\0');
  while (true) {
    ZSTD_outBuffer out{part.data(), part.size(), 0};
    const std::size_t before = in.pos;
    const std::size_t left = ZSTD_decompressStream(context.get(), &out, &in);
    if (ZSTD_isError(left) != 0) return Error{fmt::format("it is no bundle, or damaged: zstd: {}", ZSTD_getErrorName(left)), ""};
    text.append(part, 0, out.pos);
    if (text.size() > limits.archive_bytes) {
      return Error{fmt::format("it unpacks to more than {} bytes", limits.archive_bytes), ""};
    }
    if (left == 0) break;
    if (in.pos == before && out.pos == 0) return Error{"it is cut off", ""};
  }
  if (in.pos != in.size) return Error{fmt::format("there are {} bytes after its end", in.size - in.pos), ""};
  return text;
}

Result<Package> unpack(std::string_view bytes) {
  if (bytes.size() > limits.bundle_bytes) return Error{fmt::format("it is larger than {} bytes", limits.bundle_bytes), ""};
  const auto tar = decompress(bytes);
  if (!tar) return tar.error();
  auto entries = from_tar(*tar);
  if (!entries) return entries.error();
  std::vector<std::string> order;
  for (const auto& [name, content] : *entries) order.push_back(name);
  if (const std::string problem = collision(order); !problem.empty()) return Error{problem, ""};
  if (order.empty() || order.front() != listing_file) {
    return Error{"it does not begin with the list of its files (allot.files)", "`allot pack` makes bundles"};
  }
  const bool is_signed = order.size() > 1 && order[1] == signature_file;
  if (!std::is_sorted(order.begin() + (is_signed ? 2 : 1), order.end())) {
    return Error{"its files are not in the order in which `allot pack` writes them", ""};
  }
  Files files;
  for (auto& [name, content] : *entries) files.emplace(name, std::move(content));
  return examine(std::move(files), true);
}

}  // namespace

std::string bundle_name(const std::string& name, const Version& version) {
  return fmt::format("{}-{}{}", name, version.text(), bundle_ending);
}

Result<std::string> to_bundle(const Package& package) {
  if (auto free = check_not_standard(package.project.name); !free) return free.error();
  Entries entries{{std::string(listing_file), package.listing}};
  if (!package.signatures.empty()) entries.emplace_back(signature_file, package.signatures);
  entries.insert(entries.end(), package.files.begin(), package.files.end());
  auto bytes = compress(to_tar(entries));
  if (bytes && bytes->size() > limits.bundle_bytes) {
    return Error{fmt::format("the bundle is larger than {} bytes", limits.bundle_bytes), ""};
  }
  return bytes;
}

Result<Package> from_bundle(std::string_view bytes, const std::string& where) {
  auto package = unpack(bytes);
  if (!package) return Error{fmt::format("the bundle {} is refused: {}", where, package.error().what), package.error().help};
  return package;
}

Result<Package> read_package(const fs::path& path) {
  std::error_code failure;
  if (!fs::exists(path, failure)) return Error{fmt::format("there is no {}", path.string()), "name a folder with an allot.toml, or a bundle"};
  if (!fs::is_directory(path, failure)) {
    const auto bytes = read_file(fs::canonical(path, failure), limits.bundle_bytes);
    if (!bytes) return Error{fmt::format("the bundle {} is refused: {}", path.string(), bytes.error().what), bytes.error().help};
    return from_bundle(*bytes, path.string());
  }
  auto files = read_folder(path);
  if (!files) return files.error();
  auto package = examine(*std::move(files), false);
  if (!package) {
    return Error{fmt::format("the package in {} is refused: {}", path.string(), package.error().what), package.error().help};
  }
  return package;
}

}  // namespace allot::package
