// The words of the grammar, each with a sentence.
#pragma once

#include <span>
#include <string_view>

#include "lang/reference/reference.h"

namespace allot::lang::reference {

struct WordRow {
  Kind kind;
  std::string_view name;
  std::string_view form;
  std::string_view doc;
};

std::span<const WordRow> word_rows();

}  // namespace allot::lang::reference
