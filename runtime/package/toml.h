// The two TOML files of a project, read strictly. toml++ stays behind this file's .cpp and those of project and lock.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include "common/result.h"
#include "runtime/package/project.h"

namespace allot::package {

Result<toml::table> parse_toml(std::string_view text, const std::string& where);

// "allot.toml:3: what", or without a line where there is none.
Error toml_error(const std::string& where, const toml::node* node, std::string what, std::string help = "");

// An error where the table has a key that is not among `known`.
Result<void> only(const toml::table& table, const std::string& where, std::initializer_list<std::string_view> known);

// The string under `key`; empty where it is missing; an error where it is none.
Result<std::string> string_at(const toml::table& table, std::string_view key, const std::string& where);

// `locked`: with the commit of git.
Result<Source> read_source(const toml::node& node, const std::string& where, bool locked);

}  // namespace allot::package
