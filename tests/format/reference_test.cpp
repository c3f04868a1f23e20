// Every name of the language has an entry with a sentence.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "lang/builtins.h"
#include "lang/reference/reference.h"
#include "lang/words.h"

using namespace allot::lang;

TEST_CASE("every word of the grammar, every function and every fact has an entry") {
  const auto explained = [](const std::string& word, bool after_dot = false) {
    const auto found = reference::find(word, after_dot);
    return !found.empty() && std::all_of(found.begin(), found.end(), [](const reference::Entry* entry) {
      return entry->doc.ends_with('.') && !entry->signature.empty();
    });
  };
  for (const auto* words : {&item_words(), &statement_words(), &action_words(), &point_words(), &unit_words(),
                            &subject_words()}) {
    for (const std::string& word : *words) {
      INFO(word);
      CHECK(explained(word));
    }
  }
  for (const std::string word : {"allot", "decay", "per", "by", "??", "mod", "mat"}) CHECK(explained(word));
  for (const std::string word : {"prompts", "groups", "rollouts", "actions", "budget"}) CHECK(explained(word, true));
  for (const Builtin& builtin : builtins()) CHECK((builtin.hidden || explained(std::string(builtin.name))));
  for (const FactRow& row : fact_rows()) {
    INFO(row.name);
    if (!row.name.empty()) CHECK(explained(std::string(row.name), row.subject != Subject::Run));
  }
}

TEST_CASE("an entry shows how it is written") {
  const auto clamp = reference::find("clamp", false);
  REQUIRE(clamp.size() == 1);
  CHECK(clamp.front()->signature == "clamp(x: number, low: number, high: number) -> number");
  const auto hits = reference::find("hits", true);
  REQUIRE(!hits.empty());
  CHECK(hits.front()->signature == "g.hits: rollouts");
  CHECK(reference::find("no_such_thing", false).empty());
  // What is left out has a value that can be read: those of lang/builtins.cpp.
  const auto signature = [](const char* name) { return reference::find(name, false).front()->signature; };
  CHECK(signature("normalized") == "normalized(v: vec<real>, ddof: int = 1, eps: real = 0) -> vec<real>");
  CHECK_THAT(signature("argsort"), Catch::Contains("descending: bool = false, ties: seeded \"NAME\" = by position"));
  CHECK_FALSE(reference::find("ties", false).empty());
}

TEST_CASE("each subject has a letter of its own") {
  std::set<std::string> seen;
  for (const reference::Entry& entry : reference::entries()) {
    if (!reference::stands_after_dot(entry)) continue;
    INFO(entry.signature);
    CHECK(entry.signature.find('.') == 1);
    const std::string name = entry.signature.substr(0, entry.signature.find(':'));
    CHECK(seen.insert(name).second);  // a signature names one fact, so `p.evicted` is not two things
  }
  for (const reference::Entry* entry : reference::find("actions", true)) {
    CHECK(entry->doc.find(entry->signature) != std::string::npos);  // the example of `r.actions` is one
  }
}
