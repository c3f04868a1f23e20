// The lines between us and a world in a child process: version 1, described in docs/worlds.md.
//
// Requests are made and answers are read here and nowhere else; nothing here touches a process.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "runtime/worlds/world.h"

namespace allot::worlds::process {

inline constexpr int protocol_version = 1;

struct Hello {
  std::string name;
  int turn_limit = 30;
  bool expert = false;  // it answers `expert`
  std::vector<Task> training;
  std::vector<Task> held_out;
  std::vector<std::string> vocabulary;
};

std::string hello_request(long id, bool describe);
std::string reset_request(long id, const Task& task);
std::string act_request(long id, std::string_view text);  // bytes that are not UTF-8 become U+FFFD
std::string bare_request(long id, std::string_view call);  // score, expert, close

// Errors are causes that follow the name of the world ("printed a line that is not JSON: …"). An error that the world
// itself reported has `reported` in `help`; the child is in order then.
inline constexpr std::string_view reported = "reported";
Result<Hello> read_hello(std::string_view line, long id);
Result<Reply> read_reset(std::string_view line, long id);
Result<Reply> read_act(std::string_view line, long id, std::string_view text);
Result<std::optional<double>> read_score(std::string_view line, long id);
Result<std::optional<std::string>> read_expert(std::string_view line, long id);

}  // namespace allot::worlds::process
