#include "runtime/engine/policy_record.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lang/compose/library.h"
#include "runtime/engine/answer_text.h"
#include "runtime/engine/checked_line.h"
#include "runtime/engine/event_log.h"
#include "runtime/math/checksum.h"

namespace allot::engine {
namespace {

using Json = nlohmann::ordered_json;
using lang::Cell;

Json value_json(const Cell& cell, const lang::Type& type) {
  JsonText text;
  put_cell(text, cell, type);
  return Json::parse(text.text());
}

Json parts_json(const std::vector<lang::MessagePart>& parts) {
  Json json = Json::array();
  int hole = 0;
  for (const lang::MessagePart& part : parts) part.hole < 0 ? json.push_back(part.text) : json.push_back(hole++);
  return json;
}

Json names_json(const std::vector<lang::ReadKey>& keys) {
  Json names = Json::array();
  for (const lang::ReadKey& key : keys) names.push_back(key.text);
  return names;
}

Json handler_json(const lang::Program& program, const lang::Handler& handler) {
  Json states = Json::array();
  for (const std::int32_t state : states_read(handler)) {
    states.push_back(program.states[static_cast<std::size_t>(state)].name);
  }
  Json rules = Json::array();
  for (const lang::Rule& rule : handler.rules) {
    Json json{{"line", rule.line},
              {"verdict", words(rule.verdict, handler.point)},
              {"because", parts_json(rule.because)}};
    if (program.source && program.source->file_count() > 1) {
      json["where"] = place_of(program, rule);
      json["text"] = std::string(program.source->line_at(rule.span.begin));
    }
    rules.push_back(std::move(json));
  }
  return {{"text", handler.text},
          {"reads", names_json(handler.reads)},
          {"columns", names_json(handler.columns)},
          {"states", std::move(states)},
          {"rules", std::move(rules)}};
}

// The files of a policy that names others, by the paths under which they were read.
class RecordedFiles : public lang::Library {
 public:
  explicit RecordedFiles(std::vector<std::pair<std::string, std::string>> files) : files_(std::move(files)) {}

  // As SearchPath looks: beside the importing file first; elsewhere each name is there once.
  Result<lang::FoundFile> find(const std::string& name, const std::string& importing) const override {
    std::string relative = name;
    std::replace(relative.begin(), relative.end(), '.', '/');
    relative += ".allot";
    const std::string beside = (std::filesystem::path(importing).parent_path() / relative).string();
    for (const auto& [path, text] : files_) {
      if (path == beside) return lang::FoundFile{path, path, text};
    }
    for (const auto& [path, text] : files_) {
      if (path == relative || path.ends_with("/" + relative)) return lang::FoundFile{path, path, text};
    }
    return Error{"the journal does not hold the file of `" + name + "`", ""};
  }

 private:
  std::vector<std::pair<std::string, std::string>> files_;
};

}  // namespace

Json policy_record(const Policy& policy) {
  const lang::Program& program = policy.program();
  Json parameters = Json::object();
  for (std::size_t i = 0; i < program.parameters.size(); ++i) {
    parameters[program.parameters[i].name] = value_json(policy.parameters()[i], program.parameters[i].type);
  }
  Json handlers = Json::array();
  for (const lang::Handler& handler : program.handlers) handlers.push_back(handler_json(program, handler));
  Json json;
  json["name"] = program.name;
  json["hash"] = program.hash;
  json["file"] = program.source ? program.source->name() : "";
  json["source"] = program.source ? std::string(program.source->text()) : "";
  if (program.source && program.source->file_count() > 1) {
    for (std::size_t i = 0; i < program.source->file_count(); ++i) {
      json["files"].push_back({program.source->name(program.source->file(i).begin), program.source->file_text(i)});
    }
  }
  json["parameters"] = std::move(parameters);
  if (policy.origin() != nullptr) json["set"] = policy.origin()->parameters;  // by the user
  json["handlers"] = std::move(handlers);
  return json;
}

std::string policy_record_text(const Policy& policy) { return dump(policy_record(policy)); }

Cell read_cell(const Json& json, const lang::Type& type) {
  if (json.is_null()) return Cell::undefined();
  const auto must = [&](bool fits) {
    if (!fits) throw std::invalid_argument(json.dump() + " is no value of type " + lang::to_text(type));
  };
  switch (type.base) {
    case lang::Base::Bool: must(json.is_boolean()); return Cell::of(json.get<bool>());
    case lang::Base::Real:
      must(json.is_number() || json == "nan" || json == "inf" || json == "-inf");
      return Cell::of(read_number(json).value());
    case lang::Base::Beta:
      must(json.is_array() && json.size() == 2 && json[0].is_number() && json[1].is_number());
      return Cell::beta(json[0].get<double>(), json[1].get<double>());
    default: must(json.is_number_integer()); return Cell::of(json.get<std::int64_t>());
  }
}

Result<std::shared_ptr<Policy>> read_policy_record(const Json& record) {
  std::vector<std::pair<std::string, std::string>> files{{record.at("file").get<std::string>(),
                                                          record.at("source").get<std::string>()}};
  if (record.contains("files")) {
    files.clear();
    for (const Json& file : record.at("files")) files.emplace_back(file.at(0).get<std::string>(), file.at(1).get<std::string>());
  }
  const std::string name = record.at("name").get<std::string>();
  auto source = std::make_shared<const lang::Source>(files.front().first, files.front().second);
  lang::Diagnostics diagnostics;
  std::optional<lang::Program> checked =
      lang::check(source, diagnostics, std::make_shared<const RecordedFiles>(std::move(files)));
  if (!checked || diagnostics.has_errors()) {
    return Error{fmt::format("This program does not accept the recorded text of policy {}:\n{}", name,
                             lang::render_all(diagnostics, *source)),
                 "read the run with the program that wrote it"};
  }
  checked->hash = record.at("hash").get<std::string>();
  // A byte-order mark counts for the hash, which is of the file's bytes, and for nothing else.
  const std::string hashed = lang::hashed_text(*source);
  if (math::sha256_hex(hashed) != checked->hash && math::sha256_hex("\xEF\xBB\xBF" + hashed) != checked->hash) {
    return Error{fmt::format("The recorded text of policy {} is not the one whose hash stands beside it.", name),
                 "the record was changed"};
  }
  std::vector<Cell> parameters;
  for (const lang::Parameter& parameter : checked->parameters) {
    parameters.push_back(read_cell(record.at("parameters").at(parameter.name), parameter.type));
  }
  auto program = std::make_shared<const lang::Program>(*std::move(checked));
  auto evaluator = compiler::evaluate(*program);
  auto policy = std::make_shared<Policy>(std::move(program), std::move(parameters), std::move(evaluator));
  if (record.contains("set")) policy->set_origin({{}, record.at("set").get<std::map<std::string, std::string>>()});
  return policy;
}

}  // namespace allot::engine
