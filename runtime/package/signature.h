// Ed25519 (RFC 8032, by libsodium): who vouches for a package.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "runtime/package/project.h"

namespace allot::package {

bool is_public_key(std::string_view text);  // "ed25519:" and 32 bytes in base64

// Writes a fresh secret key into a new file that only its owner may read, and gives the public one.
Result<std::string> new_key(const std::filesystem::path& file);

struct SecretKey {
  std::string seed;  // 32 bytes
  std::string public_text() const;
};
// An error too where others than its owner may read it.
Result<SecretKey> read_key(const std::filesystem::path& file);

// The text of allot.signature: a line a signature, the public key and the signature of the listing. Adds one to
// `before`, or replaces the one of this key.
Result<std::string> sign(std::string_view listing, const SecretKey& key, std::string_view before);

struct Signer {
  std::string key;      // "ed25519:…"
  std::string trusted;  // the name of that key in the project; empty where it has none
};
// All who have signed this listing. An error where one of the signatures is none or is wrong, and where `keys` has keys
// and none of them has signed.
Result<std::vector<Signer>> signers(std::string_view listing, std::string_view signatures, const std::vector<Key>& keys);

}  // namespace allot::package
