// One JSON object a line whose last member is the CRC-32C of everything before it: still plain JSON lines to any other
// reader, and a flipped bit or a cut line is noticed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace allot::engine {

// Text that is not UTF-8 is written with replacement characters rather than not at all.
std::string dump(const nlohmann::ordered_json& json);

// `object` is the text of a JSON object with at least one member; the result ends without a line end.
std::string seal(std::string object);
bool is_sealed(std::string_view line);

// The object of a sealed line; none where its sum does not fit, or where it fits something that is no object.
std::optional<nlohmann::ordered_json> unseal(std::string_view line);

// A sum over lines in their order. A line may be changed and sealed anew, or taken out: then it is sound by itself, and
// only the sum tells.
class LineChain {
 public:
  void add(std::string_view sealed);  // a line that is_sealed() accepts
  // SHA-256 over the sum before and the checksums of what was added since; the next one continues from it.
  std::string sum();
  std::string sum_so_far() const;  // the same, without a new beginning; empty where nothing was added ever
  void restart(std::string sum = "");

 private:
  std::string sum_;
  std::string checksums_;
};

}  // namespace allot::engine
