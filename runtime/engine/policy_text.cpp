#include "runtime/engine/policy_text.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include <nlohmann/json.hpp>

#include "lang/limits.h"
#include "runtime/engine/checked_line.h"
#include "runtime/package/library.h"

namespace allot::engine {

using Json = nlohmann::ordered_json;

Result<PolicyText> read_policy_text(const std::filesystem::path& file) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) {
    return Error{"There is no policy file " + file.string() + ".", "give the path of a .allot file"};
  }
  // A FIFO or a device would never end; a directory reads as nothing.
  if (!std::filesystem::is_regular_file(status)) return Error{file.string() + " is not a file.", "give a .allot file"};
  if (std::filesystem::file_size(file, error) > lang::limits.source_bytes) {
    return Error{"The policy file " + file.string() + " is larger than " + std::to_string(lang::limits.source_bytes) +
                     " bytes.", ""};
  }
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  // An empty file sets failbit: nothing was put in.
  if (!stream.is_open() || stream.bad()) {
    return Error{"The policy file " + file.string() + " cannot be read.", "look at its permissions"};
  }
  PolicyText read;
  read.file = file.string();
  read.text = std::move(text).str();
  return read;
}

TextFiles::TextFiles(const PolicyText& text) : text_(text) {
  if (!text_.whole) search_ = package::environment_library();
}

Result<lang::FoundFile> TextFiles::find(const std::string& name, const std::string& importing) const {
  const auto asked = [&](const PolicyText::Used& used) { return used.name == name && used.importing == importing; };
  const auto known = std::find_if(text_.used.begin(), text_.used.end(), asked);
  if (known != text_.used.end()) return known->file;
  if (!search_) return Error{"there is no file for `" + name + "`", "it did not come with the policy"};
  auto found = search_->find(name, importing);
  if (found) text_.used.push_back({name, importing, *found});
  return found;
}

std::string TextFiles::key(const std::string& path) const {
  if (search_) return search_->key(path);
  return path == text_.file ? text_.key : path;
}

PolicyText TextFiles::whole() const {
  PolicyText text = text_;
  text.key = key(text.file);
  text.whole = true;
  return text;
}

Json to_json(const PolicyText& text) {
  Json used = Json::array();
  for (const PolicyText::Used& each : text.used) {
    used.push_back({{"name", each.name},
                    {"importing", each.importing},
                    {"file", each.file.path},
                    {"key", each.file.key},
                    {"text", each.file.text}});
  }
  return {{"file", text.file}, {"key", text.key}, {"text", text.text}, {"whole", text.whole}, {"used", std::move(used)}};
}

PolicyText policy_text_from(const Json& json) {
  PolicyText text;
  text.file = json.at("file").get<std::string>();
  text.key = json.at("key").get<std::string>();
  text.text = json.at("text").get<std::string>();
  for (const Json& each : json.at("used")) {
    text.used.push_back({each.at("name").get<std::string>(),
                         each.at("importing").get<std::string>(),
                         {each.at("file").get<std::string>(), each.at("key").get<std::string>(),
                          each.at("text").get<std::string>()}});
  }
  text.whole = json.at("whole").get<bool>();
  return text;
}

std::string pack(const PolicyText& text) { return seal(dump(to_json(text))); }

Result<PolicyText> unpack(std::string_view packed) {
  const Json json = unseal(packed).value_or(Json());
  try {
    return policy_text_from(json);
  } catch (const Json::exception&) {
    return Error{"The policy arrived damaged: its text does not fit its checksum.", "send it again"};
  }
}

}  // namespace allot::engine
