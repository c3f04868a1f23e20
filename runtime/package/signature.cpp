#include "runtime/package/signature.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "runtime/package/files.h"
#include "runtime/package/limits.h"

namespace allot::package {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view prefix = "ed25519:";
constexpr std::string_view secret_line = "allot secret key, ed25519\n";

std::string to_base64(std::string_view bytes) {
  std::string text(sodium_base64_encoded_len(bytes.size(), sodium_base64_VARIANT_ORIGINAL), '\0');
  sodium_bin2base64(text.data(), text.size(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
                    sodium_base64_VARIANT_ORIGINAL);
  text.pop_back();  // the NUL that it ends with
  return text;
}

std::optional<std::string> from_base64(std::string_view text, std::size_t size) {
  std::string bytes(size, '\0');
  std::size_t got = 0;
  const char* end = nullptr;
  const int failed = sodium_base642bin(reinterpret_cast<unsigned char*>(bytes.data()), bytes.size(), text.data(), text.size(),
                                       nullptr, &got, &end, sodium_base64_VARIANT_ORIGINAL);
  if (failed != 0 || got != size || end != text.data() + text.size() || to_base64(bytes) != text) return std::nullopt;
  return bytes;
}

std::optional<std::string> public_bytes(std::string_view text) {
  if (!text.starts_with(prefix)) return std::nullopt;
  return from_base64(text.substr(prefix.size()), crypto_sign_PUBLICKEYBYTES);
}

const unsigned char* bytes_of(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

using Pair = std::pair<std::string, std::string>;  // public and secret key, as libsodium has them

Pair pair_of(const std::string& seed) {
  Pair pair{std::string(crypto_sign_PUBLICKEYBYTES, '\0'), std::string(crypto_sign_SECRETKEYBYTES, '\0')};
  crypto_sign_seed_keypair(reinterpret_cast<unsigned char*>(pair.first.data()),
                           reinterpret_cast<unsigned char*>(pair.second.data()), bytes_of(seed));
  return pair;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

}  // namespace

bool is_public_key(std::string_view text) { return public_bytes(text).has_value(); }

std::string SecretKey::public_text() const { return std::string(prefix) + to_base64(pair_of(seed).first); }

Result<std::string> new_key(const fs::path& file) {
  if (sodium_init() < 0) return Error{"libsodium cannot be started, so there is no source of randomness", ""};
  SecretKey key{std::string(crypto_sign_SEEDBYTES, '\0')};
  randombytes_buf(key.seed.data(), key.seed.size());
  const std::string text = std::string(secret_line) + to_base64(key.seed) + "\n";
  const int out = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (out < 0) {
    const bool there = errno == EEXIST;
    return Error{fmt::format("cannot make the key file {}: {}", file.string(), std::strerror(errno)),
                 there ? "a key is never written over: choose another name" : ""};
  }
  const bool good = ::fchmod(out, 0600) == 0 && ::write(out, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
                    ::fsync(out) == 0;
  const Error problem{fmt::format("cannot write the key file {}: {}", file.string(), std::strerror(errno)), ""};
  ::close(out);
  if (!good) {
    ::unlink(file.c_str());
    return problem;
  }
  return key.public_text();
}

Result<SecretKey> read_key(const fs::path& file) {
  if (sodium_init() < 0) return Error{"libsodium cannot be started", ""};
  struct stat status {};
  if (::stat(file.c_str(), &status) == 0 && (status.st_mode & 077) != 0) {
    return Error{fmt::format("{} may be read by others (mode {:04o}), so it is no secret", file.string(), status.st_mode & 07777),
                 fmt::format("chmod 600 {}, and think of a new key if others had access", file.string())};
  }
  const auto text = read_file(file, 4096);
  if (!text) return text.error();
  std::string_view rest = *text;
  const Error problem{fmt::format("{} is no secret key", file.string()), "`allot sign --new-key FILE` makes one"};
  if (!rest.starts_with(secret_line) || !rest.ends_with('\n')) return problem;
  rest.remove_prefix(secret_line.size());
  rest.remove_suffix(1);
  auto seed = from_base64(rest, crypto_sign_SEEDBYTES);
  if (!seed) return problem;
  return SecretKey{*std::move(seed)};
}

Result<std::string> sign(std::string_view listing, const SecretKey& key, std::string_view before) {
  if (sodium_init() < 0) return Error{"libsodium cannot be started", ""};
  const Pair pair = pair_of(key.seed);
  std::string signature(crypto_sign_BYTES, '\0');
  crypto_sign_detached(reinterpret_cast<unsigned char*>(signature.data()), nullptr, bytes_of(listing), listing.size(),
                       bytes_of(pair.second));
  const std::string own = key.public_text() + " ";
  std::vector<std::string> lines;
  for (const std::string_view line : lines_of(before)) {
    if (!line.starts_with(own)) lines.emplace_back(line);
  }
  lines.push_back(own + to_base64(signature));
  std::sort(lines.begin(), lines.end());
  if (lines.size() > limits.signatures) return Error{fmt::format("a package has at most {} signatures", limits.signatures), ""};
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

Result<std::vector<Signer>> signers(std::string_view listing, std::string_view signatures, const std::vector<Key>& keys) {
  if (sodium_init() < 0) return Error{"libsodium cannot be started", ""};
  std::vector<Signer> found;
  const auto lines = lines_of(signatures);
  if (lines.size() > limits.signatures) return Error{fmt::format("it has more than {} signatures", limits.signatures), ""};
  for (const std::string_view line : lines) {
    const std::size_t blank = line.find(' ');
    const auto key = public_bytes(line.substr(0, blank));
    const auto signature =
        blank == std::string_view::npos ? std::nullopt : from_base64(line.substr(blank + 1), crypto_sign_BYTES);
    if (!key || !signature) return Error{"a line of its allot.signature is no signature", ""};
    const std::string text(line.substr(0, blank));
    if (crypto_sign_verify_detached(bytes_of(*signature), bytes_of(listing), listing.size(), bytes_of(*key)) != 0) {
      return Error{fmt::format("the signature by {} does not fit its list of files", text),
                   "the package was changed after it was signed, or the signature is of another one"};
    }
    const auto again = [&](const Signer& each) { return each.key == text; };
    if (std::any_of(found.begin(), found.end(), again)) continue;  // a line that stands there twice is one signature
    const auto it = std::find_if(keys.begin(), keys.end(), [&](const Key& each) { return each.text == text; });
    found.push_back({text, it == keys.end() ? "" : it->name});
  }
  if (keys.empty()) return found;
  if (found.empty()) {
    return Error{"it is not signed, and the project's allot.toml trusts only packages that are signed by one of its [keys]",
                 "ask its author to sign it (`allot sign`), or sign it yourself once you have read it"};
  }
  if (std::none_of(found.begin(), found.end(), [](const Signer& each) { return !each.trusted.empty(); })) {
    return Error{fmt::format("it is signed by {}, which is none of the [keys] in the project's allot.toml", found.front().key),
                 "add the key if you know whose it is"};
  }
  return found;
}

}  // namespace allot::package
