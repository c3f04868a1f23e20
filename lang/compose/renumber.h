// Moves a handler into another program or beside another handler: all its indices change, its meaning does not.
#pragma once

#include <array>
#include <vector>

#include "lang/program.h"

namespace allot::lang::compose {

// What is added to each kind of index; a table where one index becomes another (empty: it stays).
struct Renumber {
  NodeId nodes = 0;
  std::int32_t loops = 0;
  std::int32_t lets = 0;
  std::int32_t allotments = 0;
  std::vector<std::int32_t> reads;
  std::vector<std::int32_t> columns;
  std::int32_t parameters = 0;
  std::vector<std::int32_t> states;
  std::vector<std::int32_t> reports;
  std::vector<std::int32_t> warnings;
};

void renumber(Handler& handler, const Renumber& by);
void renumber(ReadArgument& argument, const Renumber& by);

// Whether two handlers mean the same, wherever they are written.
bool same_meaning(const Handler& a, const Handler& b);

}  // namespace allot::lang::compose
