#include "lang/words.h"

#include <algorithm>

namespace allot::lang {
namespace {

using Words = std::vector<std::string>;

bool among(const Words& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

const Words& item_words() {
  static const Words words{"policy", "param", "hit", "flat", "budget",   "refill", "state",
                           "input",  "fn",    "on",  "test", "scenario", "import", "migrate"};
  return words;
}

const Words& statement_words() {
  static const Words words{"let", "when", "otherwise", "remember", "report", "warn", "for"};
  return words;
}

const Words& action_words() {
  static const Words words{"continue", "stop",   "sample", "complete", "start",   "branch", "train", "drop",
                           "defer",    "refill", "leave",  "evict",    "readmit", "take",   "set",   "replay"};
  return words;
}

const Words& point_words() {
  static const Words words{"select", "size",  "turn",   "result", "wave",   "finish", "resume", "expand",
                           "score",  "shape", "replay", "loss",   "update", "epoch",  "every"};
  return words;
}

const Words& subject_words() {
  static const Words words{"group", "batch", "rollout", "pool", "micro_batch", "token"};
  return words;
}

const Words& unit_words() {
  static const Words words{"rollouts", "turns",      "tokens", "calls",  "groups",
                           "prompts",  "iterations", "epochs", "seconds"};
  return words;
}

bool is_item_word(std::string_view word) {
  return among(item_words(), word);
}
bool is_statement_word(std::string_view word) {
  return among(statement_words(), word);
}
bool is_action_word(std::string_view word) {
  return among(action_words(), word);
}

bool joins_operands(std::string_view word) {
  static const Words words{"and", "or", "not", "mod", "is", "if", "then", "else"};
  return among(words, word);
}

bool is_reserved(std::string_view word) {
  return joins_operands(word) || is_statement_word(word) || word == "because" || word == "in";
}

bool ends_expression(std::string_view word) {
  return is_statement_word(word) || word == "because";
}

bool continues_item(std::string_view word) {
  static const Words words{"in", "decay", "per", "of", "by", "carry", "over"};
  return joins_operands(word) || among(words, word);
}

std::string_view unit_named(std::string_view word) {
  for (const auto& unit : unit_words()) {
    if (word == unit || word == std::string_view(unit).substr(0, unit.size() - 1)) return unit;
  }
  return {};
}

}  // namespace allot::lang
