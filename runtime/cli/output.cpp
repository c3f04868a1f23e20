#include "runtime/cli/output.h"

#include <stdio_ext.h>

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "lang/unicode.h"
#include "runtime/engine/checked_line.h"

namespace allot::cli {

namespace {

// What the process ends with.
std::optional<Error> last_complaint;
nlohmann::ordered_json wrong = nlohmann::ordered_json::array();  // diagnostics
bool in_lines = false;                                           // a document each

// Whatever the command throws is told. `reason`: why standard output could not be written, as in errno.
Exit run(const std::function<Exit()>& command, int& reason) {
  constexpr int no_utf8 = 316;  // of nlohmann/json
  const auto unforeseen = [](const std::exception& error) {
    complain({fmt::format("this should not have happened: {}", error.what()),
              "please report it with the command and the files that led to it"});
    return Exit::Misuse;
  };
  try {
    return command();
  } catch (const std::system_error& error) {
    reason = error.code().value();
    return std::ferror(stdout) != 0 ? Exit::Failed : unforeseen(error);
  } catch (const nlohmann::json::exception& error) {
    if (error.id != no_utf8) return unforeseen(error);
    complain({"the answer holds bytes that are no UTF-8 text, which JSON cannot say",
              "without --json they are shown as they are; in SQL, hex(…) shows them"});
    return Exit::Misuse;
  } catch (const std::exception& error) {
    return unforeseen(error);
  }
}

// Names of files and words of the user may be no UTF-8.
void print_failure() {
  auto document = nlohmann::ordered_json::object();
  if (last_complaint || wrong.empty()) {
    const Error error = last_complaint.value_or(Error{"the command failed", "standard error tells why"});
    document = {{"error", error.what}, {"help", error.help}};
  }
  if (!wrong.empty()) document["diagnostics"] = wrong;
  (void)std::fputs((engine::dump(document) + "\n").c_str(), stdout);
}

}  // namespace

void complain(const Error& error) {
  last_complaint = error;
  (void)std::fputs(fmt::format("allot: {}\n", lang::shown(error.text())).c_str(), stderr);
}

void keep_diagnostics(const nlohmann::ordered_json& diagnostics) {
  wrong.insert(wrong.end(), diagnostics.begin(), diagnostics.end());
}

void say_lines() { in_lines = true; }

void output_failed() { throw std::system_error(errno, std::generic_category(), "standard output"); }

Exit run_to_end(bool json, const std::function<Exit()>& command) {
  // Until it is full, what the buffer holds is all that was said: on a terminal too.
  static std::array<char, 1 << 16> buffer;
  if (json) (void)std::setvbuf(stdout, buffer.data(), _IOFBF, buffer.size());
  int reason = 0;
  const Exit exit = run(command, reason);
  const bool said_nothing = ::__fpending(stdout) == 0;
  if (json && exit != Exit::Good && (in_lines || said_nothing) && std::ferror(stdout) == 0) print_failure();
  if (std::fflush(stdout) != 0) reason = errno;
  if (std::ferror(stdout) == 0) return exit;
  complain({fmt::format("cannot write to standard output: {}", std::strerror(reason)), ""});
  return Exit::Failed;
}

}  // namespace allot::cli
