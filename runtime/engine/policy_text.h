// The text of a policy with that of every file it names, so that it can be checked again elsewhere and later.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "common/result.h"
#include "lang/compose/library.h"

namespace allot::engine {

struct PolicyText {
  struct Used {
    std::string name;       // as the policy wrote it
    std::string importing;  // path of the file that named it
    lang::FoundFile file;
  };
  std::string file;  // of the policy itself, as people see it
  std::string key;   // see lang::Library
  std::string text;
  std::vector<Used> used;
  bool whole = false;  // `used` is complete: nothing else is looked for
};

// The file alone, not yet whole. An error says what is wrong with the file, never with what it says.
Result<PolicyText> read_policy_text(const std::filesystem::path& file);

// Where the files of a text come from: those it brings along, or, while it is not whole, the search path. What was found
// is remembered.
class TextFiles final : public lang::Library {
 public:
  explicit TextFiles(const PolicyText& text);
  Result<lang::FoundFile> find(const std::string& name, const std::string& importing) const override;
  std::string key(const std::string& path) const override;
  // The text with all that was asked for.
  PolicyText whole() const;

 private:
  mutable PolicyText text_;
  std::shared_ptr<const lang::Library> search_;
};

nlohmann::ordered_json to_json(const PolicyText& text);
// Throws what nlohmann throws where the JSON is of another form.
PolicyText policy_text_from(const nlohmann::ordered_json& json);

// One checksummed text, for another process; an error where it is damaged.
std::string pack(const PolicyText& text);
Result<PolicyText> unpack(std::string_view packed);

}  // namespace allot::engine
