// Mistakes of the author, collected and shown together. Failures of the machine never travel this way.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lang/source.h"

namespace allot::lang {

enum class Severity { Error, Warning };

// A second place that explains the first: where a parameter was declared, where a brace was opened.
struct Context {
  Span span;
  std::string words;
};

struct Diagnostic {
  Severity severity = Severity::Error;
  std::string code = {};     // "E0118"; stable, one page each in `allot help CODE` (lang/codes.h)
  Span span = {};            // what the caret stands under
  std::string message = {};  // one sentence, no full stop, no capital: "tokens cannot be compared with turns"
  std::string label = {};    // words beside the caret; may be empty
  std::string help = {};     // what to write instead; may be empty
  std::vector<Context> contexts = {};
};

class Diagnostics {
 public:
  void add(Diagnostic diagnostic);
  bool has_errors() const { return errors_ > 0; }
  const std::vector<Diagnostic>& all() const { return all_; }
  // How many were counted only: a text that is nothing but mistakes must not fill the memory with them.
  int left_out() const { return errors_dropped_ + warnings_dropped_; }
  // Sorted by place, at most one per place and code.
  void sort();

 private:
  std::vector<Diagnostic> all_;
  int errors_ = 0;
  int errors_dropped_ = 0;
  int warnings_dropped_ = 0;
};

// The form of models.md §3.1: code and message, file:line:column, the line with a caret, label, help.
std::string render(const Diagnostic& diagnostic, const Source& source);
// How many of them are not shown.
int hidden(const Diagnostics& diagnostics);
std::string render_all(const Diagnostics& diagnostics, const Source& source);
// One JSON array. Where there are more than `limits.errors`, a last element without a code says how many.
std::string render_json(const Diagnostics& diagnostics, const Source& source);

// The candidate nearest to `name` by edit distance, or empty where nothing is near enough to be meant.
std::string near_match(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace allot::lang
