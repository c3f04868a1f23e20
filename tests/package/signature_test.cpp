// Ed25519 against the vectors of RFC 8032, section 7.1, and what a list of signatures may hold.
#include "runtime/package/signature.h"

#include <sodium.h>

#include <catch2/catch.hpp>
#include <string>

using namespace allot::package;

namespace {

std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

std::string base64(const std::string& bytes) {
  std::string text(sodium_base64_encoded_len(bytes.size(), sodium_base64_VARIANT_ORIGINAL), '\0');
  sodium_bin2base64(text.data(), text.size(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(),
                    sodium_base64_VARIANT_ORIGINAL);
  text.pop_back();
  return text;
}

struct Vector {
  const char *seed, *key, *message, *signature;
};
// RFC 8032, 7.1: TEST 1, TEST 2, TEST 3.
const Vector vectors[] = {
    {"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
     "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a"
     "100b"},
    {"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
     "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
     "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb"
     "0c00"},
    {"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
     "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
     "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1e"
     "c40a"}};

}  // namespace

TEST_CASE("signatures are those of RFC 8032") {
  for (const Vector& each : vectors) {
    const SecretKey key{from_hex(each.seed)};
    const std::string public_text = "ed25519:" + base64(from_hex(each.key));
    CHECK(key.public_text() == public_text);
    const std::string message = from_hex(each.message);
    const auto text = sign(message, key, "");
    REQUIRE(text);
    CHECK(*text == public_text + " " + base64(from_hex(each.signature)) + "\n");
    const auto found = signers(message, *text, {{"me", public_text}});
    REQUIRE(found);
    CHECK(found->at(0).trusted == "me");
    CHECK_FALSE(signers(message + "x", *text, {}));
  }
}

TEST_CASE("nothing but a key is a key") {
  const std::string good = "ed25519:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";
  CHECK(is_public_key(good));
  for (const std::string& wrong : {good.substr(8), good.substr(0, good.size() - 1), good + "=", good + " ", " " + good,
                                   std::string("ed25519:"), "rsa:" + good.substr(8), good + good,
                                   // Bits that no byte has (RFC 4648, 3.5): another text of the same key.
                                   std::string("ed25519:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURp=")}) {
    INFO(wrong);
    CHECK_FALSE(is_public_key(wrong));
  }
}

TEST_CASE("two keys sign one list, in one order") {
  const SecretKey one{from_hex(vectors[0].seed)}, two{from_hex(vectors[1].seed)};
  const auto first = sign("x", two, *sign("x", one, ""));
  const auto second = sign("x", one, *sign("x", two, ""));
  CHECK(*first == *second);
  CHECK(*sign("x", one, *first) == *first);
  CHECK(signers("x", *first, {})->size() == 2);
  CHECK(signers("x", *first, {{"b", two.public_text()}}));
  CHECK_FALSE(signers("x", *sign("x", one, ""), {{"b", two.public_text()}}));
  CHECK_FALSE(signers("x", "", {{"b", two.public_text()}}));
  CHECK(signers("x", "", {}));
}
